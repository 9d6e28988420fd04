/*
 * asm.h - numbers that assembly and C must agree on; cpu.c asserts that they
 * match the structures.
 */
#pragma once

/* Where the first instructions of a starting CPU lie: a page of the first MiB,
 * which the page allocator leaves alone. */
#define AP_TRAMPOLINE 0x8000

/* struct cpu */
#define CPU_SELF 0
#define CPU_USER_RSP 8
#define CPU_LWP 16
#define CPU_NEED_RESCHED 24
#define CPU_ID 28
#define CPU_WAITING 32
#define CPU_PARKED 36
#define CPU_WAIT_RSP 40
#define CPU_NMI_STACK_A 48
#define CPU_NMI_STACK_B 56
#define CPU_IST1 64
#define CPU_TIMEREC 72
#define CPU_INWIN 80
#define CPU_TSS_RSP0 88
#define CPU_LAPIC 188
#define CPU_FRAME 192
#define CPU_IRR 200
#define CPU_PROBE_RING 232
#define CPU_PROBE_RAN 240

/* The stubs of probe points of programs (kern/probe.h), and the vectors that enter the kernel. */
#define PROBE_USER 0xffffffffc0000000
#define PROBE_SLOTS 0x800000
#define VEC_PROBE 0xf0
#define VEC_PROBE_SETTLE 0xf1

/* struct timerec */
#define TIMEREC_VBASE 0
#define TIMEREC_WS 8
#define TIMEREC_MULT 16

/* struct lwp */
#define LWP_KSP 0
#define LWP_AST 8
#define LWP_FRAME 16

/* struct trapframe */
#define TF_CALLER_REGS 40
#define TF_RAX 112
#define TF_VEC 120
#define TF_RIP 136
#define TF_CS 144
#define TF_RFLAGS 152
#define TF_RSP 160
#define TF_SIZE 176
