/*
 * interp_loop.h - the loop of the interpreter, a part of interp.c. It uses the macros of that file.
 */

void interpret(struct jthread *t, union slot *result)
{
	struct frame *f = t->frame;
	const uint8_t *pc = f->pc;
	union slot *locals = f->locals, *sp = FRAME_STACK(f);
	struct method *m;
	int n;

	if (f->method->access & ACC_SYNCHRONIZED) {
		frame_synchronize(t, f);
		if (t->exception != NULL)
			goto thrown;
	}
next:
	switch (*pc) {
	case OP_nop:
		NEXT(1);
	case OP_aconst_null:
		CONST(a, NULL, 1);
	case OP_iconst_m1:
	case OP_iconst_0:
	case OP_iconst_1:
	case OP_iconst_2:
	case OP_iconst_3:
	case OP_iconst_4:
	case OP_iconst_5:
		CONST(i, *pc - OP_iconst_0, 1);
	case OP_lconst_0:
	case OP_lconst_1:
		CONST(j, *pc - OP_lconst_0, 2);
	case OP_fconst_0:
	case OP_fconst_1:
	case OP_fconst_2:
		CONST(f, *pc - OP_fconst_0, 1);
	case OP_dconst_0:
	case OP_dconst_1:
		CONST(d, *pc - OP_dconst_0, 2);
	case OP_bipush:
		sp++->i = (int8_t)pc[1];
		NEXT(2);
	case OP_sipush:
		sp++->i = S2(pc + 1);
		NEXT(3);
	case OP_ldc:
	case OP_ldc_w:
	case OP_ldc2_w:
		SAVE;
		n = pool_load(t, f->method->cls, *pc == OP_ldc ? pc[1] : u2_at(pc + 1), sp);
		if (n == 0)
			goto thrown;
		sp += n;
		NEXT(*pc == OP_ldc ? 2 : 3);
	case OP_iload:
	case OP_fload:
	case OP_aload:
		LOAD(pc[1], 1, 2);
	case OP_lload:
	case OP_dload:
		LOAD(pc[1], 2, 2);
		FOUR(iload, LOAD, 1);
		FOUR(lload, LOAD, 2);
		FOUR(fload, LOAD, 1);
		FOUR(dload, LOAD, 2);
		FOUR(aload, LOAD, 1);
	case OP_iaload:
		ALOAD(i, i, 1);
	case OP_laload:
		ALOAD(j, j, 2);
	case OP_faload:
		ALOAD(f, f, 1);
	case OP_daload:
		ALOAD(d, d, 2);
	case OP_aaload:
		ALOAD(a, a, 1);
	case OP_baload:
		ALOAD(b, i, 1);
	case OP_caload:
		ALOAD(c, i, 1);
	case OP_saload:
		ALOAD(s, i, 1);
	case OP_istore:
	case OP_fstore:
	case OP_astore:
		STORE(pc[1], 1, 2);
	case OP_lstore:
	case OP_dstore:
		STORE(pc[1], 2, 2);
		FOUR(istore, STORE, 1);
		FOUR(lstore, STORE, 2);
		FOUR(fstore, STORE, 1);
		FOUR(dstore, STORE, 2);
		FOUR(astore, STORE, 1);
	case OP_iastore:
		ASTORE(i, int32_t, i, 1);
	case OP_lastore:
		ASTORE(j, int64_t, j, 2);
	case OP_fastore:
		ASTORE(f, float, f, 1);
	case OP_dastore:
		ASTORE(d, double, d, 2);
	case OP_aastore:
		INDEX(sp[-3].a, sp[-2].i);
		SAVE;
		if (!element_store(t, sp[-3].a, sp[-2].i, sp[-1].a))
			goto thrown;
		sp -= 3;
		NEXT(1);
	case OP_bastore:
		INDEX(sp[-3].a, sp[-2].i);
		if (sp[-3].a->cls->kind == 'Z')
			sp[-1].i &= 1;
		ASTORE(b, int8_t, i, 1);
	case OP_castore:
		ASTORE(c, uint16_t, i, 1);
	case OP_sastore:
		ASTORE(s, int16_t, i, 1);
	case OP_pop:
		sp -= 1;
		NEXT(1);
	case OP_pop2:
		sp -= 2;
		NEXT(1);
	case OP_dup:
		sp[0] = sp[-1];
		sp++;
		NEXT(1);
	case OP_dup_x1:
		sp[0] = sp[-1];
		sp[-1] = sp[-2];
		sp[-2] = sp[0];
		sp++;
		NEXT(1);
	case OP_dup_x2:
		sp[0] = sp[-1];
		sp[-1] = sp[-2];
		sp[-2] = sp[-3];
		sp[-3] = sp[0];
		sp++;
		NEXT(1);
	case OP_dup2:
		sp[0] = sp[-2];
		sp[1] = sp[-1];
		sp += 2;
		NEXT(1);
	case OP_dup2_x1:
		sp[1] = sp[-1];
		sp[0] = sp[-2];
		sp[-1] = sp[-3];
		sp[-2] = sp[1];
		sp[-3] = sp[0];
		sp += 2;
		NEXT(1);
	case OP_dup2_x2:
		sp[1] = sp[-1];
		sp[0] = sp[-2];
		sp[-1] = sp[-3];
		sp[-2] = sp[-4];
		sp[-3] = sp[1];
		sp[-4] = sp[0];
		sp += 2;
		NEXT(1);
	case OP_swap:
		sp[0] = sp[-1];
		sp[-1] = sp[-2];
		sp[-2] = sp[0];
		NEXT(1);
		BINARY(iadd, i, 1, (int32_t)((uint32_t)a + (uint32_t)b))
		BINARY(ladd, j, 2, (int64_t)((uint64_t)a + (uint64_t)b))
		BINARY(fadd, f, 1, a + b)
		BINARY(dadd, d, 2, a + b)
		BINARY(isub, i, 1, (int32_t)((uint32_t)a - (uint32_t)b))
		BINARY(lsub, j, 2, (int64_t)((uint64_t)a - (uint64_t)b))
		BINARY(fsub, f, 1, a - b)
		BINARY(dsub, d, 2, a - b)
		BINARY(imul, i, 1, (int32_t)((uint32_t)a * (uint32_t)b))
		BINARY(lmul, j, 2, (int64_t)((uint64_t)a * (uint64_t)b))
		BINARY(fmul, f, 1, a * b)
		BINARY(dmul, d, 2, a * b)
	case OP_idiv:
	case OP_irem:
		if (sp[-1].i == 0)
			THROW("ArithmeticException", "/ by zero");
		if (sp[-1].i ==
		    -1) /* the smallest number has no positive partner, and the CPU would trap */
			sp[-2].i = *pc == OP_idiv ? (int32_t)(0u - (uint32_t)sp[-2].i) : 0;
		else
			sp[-2].i = *pc == OP_idiv ? sp[-2].i / sp[-1].i : sp[-2].i % sp[-1].i;
		sp -= 1;
		NEXT(1);
	case OP_ldiv:
	case OP_lrem:
		if (sp[-2].j == 0)
			THROW("ArithmeticException", "/ by zero");
		if (sp[-2].j == -1)
			sp[-4].j = *pc == OP_ldiv ? (int64_t)(0ull - (uint64_t)sp[-4].j) : 0;
		else
			sp[-4].j = *pc == OP_ldiv ? sp[-4].j / sp[-2].j : sp[-4].j % sp[-2].j;
		sp -= 2;
		NEXT(1);
		BINARY(fdiv, f, 1, a / b)
		BINARY(ddiv, d, 2, a / b)
		BINARY(frem, f, 1, fmodf(a, b))
		BINARY(drem, d, 2, fmod(a, b))
		CONVERT(ineg, i, 1, i, 1, (int32_t)(0u - (uint32_t)a))
		CONVERT(lneg, j, 2, j, 2, (int64_t)(0ull - (uint64_t)a))
		CONVERT(fneg, f, 1, f, 1, -a)
		CONVERT(dneg, d, 2, d, 2, -a)
		SHIFT(ishl, i, 1, (int32_t)((uint32_t)a << (b & 31)))
		SHIFT(lshl, j, 2, (int64_t)((uint64_t)a << (b & 63)))
		SHIFT(ishr, i, 1, a >> (b & 31))
		SHIFT(lshr, j, 2, a >> (b & 63))
		SHIFT(iushr, i, 1, (int32_t)((uint32_t)a >> (b & 31)))
		SHIFT(lushr, j, 2, (int64_t)((uint64_t)a >> (b & 63)))
		BINARY(iand, i, 1, a & b)
		BINARY(land, j, 2, a & b)
		BINARY(ior, i, 1, a | b)
		BINARY(lor, j, 2, a | b)
		BINARY(ixor, i, 1, a ^ b)
		BINARY(lxor, j, 2, a ^ b)
	case OP_iinc:
		locals[pc[1]].i = (int32_t)((uint32_t)locals[pc[1]].i + (uint32_t)(int8_t)pc[2]);
		NEXT(3);
		CONVERT(i2l, i, 1, j, 2, a)
		CONVERT(i2f, i, 1, f, 1, (float)a)
		CONVERT(i2d, i, 1, d, 2, a)
		CONVERT(l2i, j, 2, i, 1, (int32_t)a)
		CONVERT(l2f, j, 2, f, 1, (float)a)
		CONVERT(l2d, j, 2, d, 2, (double)a)
		CONVERT(f2i, f, 1, i, 1, double_to_int(a))
		CONVERT(f2l, f, 1, j, 2, double_to_long(a))
		CONVERT(f2d, f, 1, d, 2, a)
		CONVERT(d2i, d, 2, i, 1, double_to_int(a))
		CONVERT(d2l, d, 2, j, 2, double_to_long(a))
		CONVERT(d2f, d, 2, f, 1, (float)a)
		CONVERT(i2b, i, 1, i, 1, (int8_t)a)
		CONVERT(i2c, i, 1, i, 1, (uint16_t)a)
		CONVERT(i2s, i, 1, i, 1, (int16_t)a)
		COMPARE(lcmp, j, 2, (a > b) - (a < b))
		COMPARE(fcmpl, f, 1, a > b ? 1 : a == b ? 0 : -1)
		COMPARE(fcmpg, f, 1, a < b ? -1 : a == b ? 0 : 1)
		COMPARE(dcmpl, d, 2, a > b ? 1 : a == b ? 0 : -1)
		COMPARE(dcmpg, d, 2, a < b ? -1 : a == b ? 0 : 1)
		IF(ifeq, 1, sp[0].i == 0);
		IF(ifne, 1, sp[0].i != 0);
		IF(iflt, 1, sp[0].i < 0);
		IF(ifge, 1, sp[0].i >= 0);
		IF(ifgt, 1, sp[0].i > 0);
		IF(ifle, 1, sp[0].i <= 0);
		IF(if_icmpeq, 2, sp[0].i == sp[1].i);
		IF(if_icmpne, 2, sp[0].i != sp[1].i);
		IF(if_icmplt, 2, sp[0].i < sp[1].i);
		IF(if_icmpge, 2, sp[0].i >= sp[1].i);
		IF(if_icmpgt, 2, sp[0].i > sp[1].i);
		IF(if_icmple, 2, sp[0].i <= sp[1].i);
		IF(if_acmpeq, 2, sp[0].a == sp[1].a);
		IF(if_acmpne, 2, sp[0].a != sp[1].a);
		IF(ifnull, 1, sp[0].a == NULL);
		IF(ifnonnull, 1, sp[0].a != NULL);
	case OP_goto:
		BRANCH(S2(pc + 1));
	case OP_goto_w:
		BRANCH(S4(pc + 1));
	case OP_tableswitch:
	case OP_lookupswitch:
		BRANCH(switch_target(f->method->code, pc, (--sp)->i));
	case OP_ireturn:
	case OP_freturn:
	case OP_areturn:
	case OP_lreturn:
	case OP_dreturn:
	case OP_return:
		n = *pc == OP_return ? 0 : *pc == OP_lreturn || *pc == OP_dreturn ? 2 : 1;
		sp -= n;
		if (f->lock != NULL) {
			SAVE;
			if (!monitor_exit(t, f->lock)) {
				f->lock = NULL; /* the code has left it already */
				THROW("IllegalMonitorStateException", NULL);
			}
		}
		t->frame = f->caller;
		if (f->entry) {
			if (n != 0)
				slot_store(result, f->method->returns, sp[0]);
			return;
		}
		if (n != 0)
			slot_store(f->sp, f->method->returns, sp[0]);
		sp = f->sp + n;
		f = t->frame;
		pc = f->pc;
		locals = f->locals;
		NEXT(*pc >= OP_invokeinterface ? 5 : 3);
	case OP_getstatic:
	case OP_putstatic: {
		struct field *fd;

		SAVE;
		fd = pool_field(t, f, pc);
		if (fd == NULL)
			goto thrown;
		n = type_is_wide(fd->type) ? 2 : 1;
		if (*pc == OP_getstatic) {
			*sp = field_load(&fd->cls->statics[fd->slot]);
			sp += n;
		} else {
			sp -= n;
			field_store(fd, &fd->cls->statics[fd->slot], *sp);
		}
		NEXT(3);
	}
	case OP_getfield: {
		struct field *fd;

		SAVE;
		fd = pool_field(t, f, pc);
		if (fd == NULL)
			goto thrown;
		NULL_CHECK(sp[-1].a);
		sp[-1] = field_load(&sp[-1].a->fields[fd->slot]);
		sp += type_is_wide(fd->type);
		NEXT(3);
	}
	case OP_putfield: {
		struct field *fd;

		SAVE;
		fd = pool_field(t, f, pc);
		if (fd == NULL)
			goto thrown;
		n = type_is_wide(fd->type) ? 2 : 1;
		NULL_CHECK(sp[-n - 1].a);
		sp -= n + 1;
		field_store(fd, &sp[0].a->fields[fd->slot], sp[1]);
		NEXT(3);
	}
	case OP_invokevirtual:
	case OP_invokespecial:
	case OP_invokestatic:
	case OP_invokeinterface:
		SAVE;
		if (atomic_load_explicit(&world.wanted, memory_order_relaxed))
			world_safepoint(t);
		m = pool_method(t, f, pc, sp);
	call:
		if (m == NULL)
			goto thrown;
		sp -= m->n_args;
		if (m->access & ACC_NATIVE) {
			native_call(t, m, sp, sp);
			if (t->exception != NULL)
				goto thrown;
			sp += m->returns == 'V' ? 0 : type_is_wide(m->returns) ? 2 : 1;
			NEXT(*pc == OP_invokeinterface ? 5 : 3);
		}
		f = frame_push(t, m, sp);
		if (f == NULL) {
			f = t->frame;
			goto thrown;
		}
		pc = f->pc;
		locals = f->locals;
		sp = FRAME_STACK(f);
		if (m->access & ACC_SYNCHRONIZED) {
			frame_synchronize(t, f);
			if (t->exception != NULL)
				goto thrown;
		}
		NEXT(0);
	case OP_invokedynamic:
		SAVE;
		m = pool_resolved(f->method->cls, pc);
		if (m == NULL)
			m = lambda_link(t, f->method->cls, u2_at(pc + 1));
		goto call;
	case OP_new:
		SAVE;
		sp[0].a = object_new(t, f, pc);
		if (sp[0].a == NULL)
			goto thrown;
		sp++;
		NEXT(3);
	case OP_newarray:
	case OP_anewarray:
	case OP_multianewarray: {
		struct object *array;

		SAVE;
		array = array_new(t, f, pc, sp);
		if (array == NULL)
			goto thrown;
		sp -= *pc == OP_multianewarray ? pc[3] : 1;
		sp++->a = array;
		NEXT(*pc == OP_newarray ? 2 : *pc == OP_anewarray ? 3 : 4);
	}
	case OP_arraylength:
		NULL_CHECK(sp[-1].a);
		sp[-1].i = ARRAY(sp[-1].a)->length;
		NEXT(1);
	case OP_athrow:
		NULL_CHECK(sp[-1].a);
		SAVE;
		t->exception = sp[-1].a;
		goto thrown;
	case OP_checkcast:
		if (sp[-1].a != NULL) {
			SAVE;
			if (!object_is(t, f, pc, sp[-1].a))
				goto thrown;
		}
		NEXT(3);
	case OP_instanceof:
		if (sp[-1].a == NULL) {
			sp[-1].i = 0;
		} else {
			SAVE;
			sp[-1].i = object_is(t, f, pc, sp[-1].a);
			if (t->exception != NULL)
				goto thrown;
		}
		NEXT(3);
	case OP_monitorenter:
		NULL_CHECK(sp[-1].a);
		SAVE;
		monitor_enter(t, sp[-1].a);
		if (t->exception != NULL) /* no memory for the monitor: it is not entered */
			goto thrown;
		sp--;
		NEXT(1);
	case OP_monitorexit:
		NULL_CHECK(sp[-1].a);
		SAVE;
		if (!monitor_exit(t, sp[-1].a))
			THROW("IllegalMonitorStateException", NULL);
		sp--;
		NEXT(1);
	case OP_wide:
		n = u2_at(pc + 2);
		switch (pc[1]) {
		case OP_iload:
		case OP_fload:
		case OP_aload:
			LOAD(n, 1, 4);
		case OP_lload:
		case OP_dload:
			LOAD(n, 2, 4);
		case OP_istore:
		case OP_fstore:
		case OP_astore:
			STORE(n, 1, 4);
		case OP_lstore:
		case OP_dstore:
			STORE(n, 2, 4);
		}
		locals[n].i = (int32_t)((uint32_t)locals[n].i + (uint32_t)S2(pc + 4)); /* iinc */
		NEXT(6);
	}
	__builtin_unreachable(); /* the verifier knows no other instruction */

thrown:
	f = t->frame;
	pc = throw_find(t, f);
	while (pc == NULL) {
		bool entry = f->entry;

		if (f->lock != NULL)
			monitor_exit(t, f->lock);
		f = t->frame = f->caller;
		if (entry)
			return;
		pc = throw_find(t, f);
	}
	locals = f->locals;
	sp = FRAME_STACK(f);
	sp++->a = t->exception;
	t->exception = NULL;
	NEXT(0);
}
