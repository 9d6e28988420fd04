/*
 * boot.S - from the boot loader to long mode.
 *
 * Two entries lead here in 32-bit protected mode without paging: PVH (QEMU's
 * -kernel) and Multiboot2 (GRUB).  Both leave the address of their information
 * in EBX.  The code runs at its physical address (1 MiB and up), so every
 * symbol is taken minus KIMAGE until the jump to the higher half.
 *
 * The early page tables map the first 4 GiB three times, writable and
 * executable: at 0, at KDIRECT, and (the first 2 GiB) at KIMAGE.  mm_init replaces
 * them by the final tables.  CPUs that start later use the early tables first (cpu/trampoline.S).
 */

#define PHYS(s) ((s) - 0xffffffff80000000)

	/* The header that GRUB looks for. */
	.section .multiboot2, "a"
	.balign 8
mb2_header:
	.long 0xe85250d6, 0, mb2_end - mb2_header
	.long -(0xe85250d6 + 0 + (mb2_end - mb2_header))
	/* The physical entry address, because e_entry is a virtual address. */
	.word 3, 0
	.long 12, PHYS(multiboot2_entry)
	.balign 8
	/* Modules on page boundaries. */
	.word 6, 0
	.long 8
	.word 0, 0
	.long 8
mb2_end:

	/* XEN_ELFNOTE_PHYS32_ENTRY.  QEMU reads 8 bytes of an ELF64's descriptor. */
	.section .note.Xen, "a", @note
	.balign 4
	.long 4, 8, 18
	.asciz "Xen"
	.quad PHYS(pvh_entry)

	.section .text.boot, "ax"
	.code32
	.globl pvh_entry, multiboot2_entry
pvh_entry:
	cld
	movl $1, %ebp
	jmp 1f
multiboot2_entry:
	cld
	movl $2, %ebp
1:	cli
	movl $PHYS(boot_stack_top), %esp

	/* Without long mode the kernel cannot run: the serial port says so. */
	movl $0x80000000, %eax
	movl %ebx, %esi
	cpuid
	cmpl $0x80000001, %eax
	jb no_long_mode
	movl $0x80000001, %eax
	cpuid
	testl $1 << 29, %edx
	jz no_long_mode
	/* NX: the final page tables use it. */
	testl $1 << 20, %edx
	jz no_long_mode
	movl %esi, %ebx

	/* Four page directories of 2 MiB pages. */
	movl $PHYS(boot_pds), %edi
	movl $0x83, %eax
	movl $2048, %ecx
1:	movl %eax, (%edi)
	addl $0x200000, %eax
	addl $8, %edi
	loop 1b
	/* Address 0 and KDIRECT use the same four directories, KIMAGE the first two. */
	movl $PHYS(boot_pdpt_low), %edi
	movl $PHYS(boot_pds) + 3, %eax
	movl $4, %ecx
1:	movl %eax, (%edi)
	addl $4096, %eax
	addl $8, %edi
	loop 1b
	movl $PHYS(boot_pds) + 3, PHYS(boot_pdpt_image) + 510 * 8
	movl $PHYS(boot_pds) + 4096 + 3, PHYS(boot_pdpt_image) + 511 * 8
	movl $PHYS(boot_pdpt_low) + 3, PHYS(boot_pml4)
	movl $PHYS(boot_pdpt_low) + 3, PHYS(boot_pml4) + 256 * 8
	movl $PHYS(boot_pdpt_image) + 3, PHYS(boot_pml4) + 511 * 8

	call enter_long_mode
	ljmp $0x08, $PHYS(boot_cpu_64)

/*
 * Every CPU calls it, in 32-bit protected mode, with a stack.  Turns on paging (the early tables) and
 * long mode, and loads boot_gdt.  Returns in 32-bit compatibility mode.  Changes EAX, ECX and EDX.
 */
	.globl enter_long_mode
enter_long_mode:
	lgdt PHYS(boot_gdtr)
	movl %cr4, %eax
	orl $0x620, %eax /* OSXMMEXCPT, OSFXSR, PAE */
	movl %eax, %cr4
	movl $PHYS(boot_pml4), %eax
	movl %eax, %cr3
	movl $0xc0000080, %ecx
	rdmsr
	orl $0x901, %eax /* NXE, LME, SCE */
	wrmsr
	movl %cr0, %eax
	andl $~0x6000000c, %eax /* CD, NW, TS, EM */
	orl $0x80010023, %eax /* PG, WP, NE, MP, PE */
	movl %eax, %cr0
	ret

no_long_mode:
	movl $PHYS(no_long_mode_text), %esi
1:	lodsb
	testb %al, %al
	jz 2f
	movw $0x3f8, %dx
	outb %al, %dx
	jmp 1b
2:	movl $0x11, %eax /* QEMU_EXIT_PANIC */
	movw $0xf4, %dx
	outl %eax, %dx
3:	hlt
	jmp 3b

	.code64
boot_cpu_64:
	movabsq $1f, %rax
	jmp *%rax
1:	xorl %eax, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl %eax, %fs
	movl %eax, %gs
	movq $boot_stack_top, %rsp
	movl %ebp, %edi
	movl %ebx, %esi
	xorl %ebp, %ebp
	call boot_info_init /* (kind, physical address) */
	call kmain

	.section .rodata
	.balign 8
	.globl boot_gdt, boot_gdt_limit
boot_gdt:
	.quad 0
	.quad 0x00af9a000000ffff /* 08: 64-bit code */
	.quad 0x00cf92000000ffff /* 10: data */
	.quad 0x00cf9a000000ffff /* 18: 32-bit code */
	.set boot_gdt_limit, . - boot_gdt - 1
boot_gdtr:
	.word boot_gdt_limit
	.long PHYS(boot_gdt)
no_long_mode_text:
	.asciz "weft: panic: this CPU has no 64-bit mode or no NX\r\n"

	.bss
	.balign 4096
boot_pml4:
	.skip 4096
boot_pdpt_low:
	.skip 4096
boot_pdpt_image:
	.skip 4096
boot_pds:
	.skip 4 * 4096
boot_stack:
	.skip 16384
	.globl boot_stack_top
boot_stack_top:
	.skip 64
	.globl ap_boot_stack_top
ap_boot_stack_top: /* for one call, on a CPU that starts */

	.section .note.GNU-stack, "", @progbits
