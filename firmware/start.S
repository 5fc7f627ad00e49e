/* Entry, exception vectors, and the way down to EL1.
 *
 * Entered by a boot loader or by QEMU with the MMU off, in EL1 or EL2; x0 is the address of a flattened device
 * tree, or zero where it lies at the start of the memory. */

#define STRIA_CPACR_FP   (3 << 20)   /* floating point and vectors are not trapped */
#define STRIA_HCR_RW     (1 << 31)   /* EL1 is 64-bit */
#define STRIA_CPTR_EL2   0x33ff      /* no trap to EL2, reserved bits one */
#define STRIA_SPSR_EL1H  0x3c5       /* EL1 with its own stack, all interrupts masked */
#define STRIA_SCTLR_EL1  0x30d00800  /* reserved bits one: MMU, caches and alignment checks off */

    .section .text.start, "ax"
    .global stria_start
stria_start:
    mov x19, x0
    msr daifset, #0xf
    mrs x0, mpidr_el1
    tst x0, #0xff
    b.ne park
    mrs x0, CurrentEL
    cmp x0, #(2 << 2)
    b.ne in_el1
    mov x0, #STRIA_HCR_RW
    msr hcr_el2, x0
    mrs x0, cnthctl_el2
    orr x0, x0, #3
    msr cnthctl_el2, x0
    msr cntvoff_el2, xzr
    mov x0, #STRIA_CPTR_EL2
    msr cptr_el2, x0
    ldr x0, =STRIA_SCTLR_EL1
    msr sctlr_el1, x0
    mov x0, #STRIA_SPSR_EL1H
    msr spsr_el2, x0
    adr x0, in_el1
    msr elr_el2, x0
    eret
in_el1:
    msr spsel, #1
    mov x0, #STRIA_CPACR_FP
    msr cpacr_el1, x0
    ldr x0, =stria_vectors
    msr vbar_el1, x0
    isb
    ldr x0, =stria_stack_end
    mov sp, x0
    ldr x0, =stria_bss_start
    ldr x1, =stria_bss_end
clear:
    cmp x0, x1
    b.hs cleared
    stp xzr, xzr, [x0], #16
    b clear
cleared:
    ldr x0, =stria_ram_start
    cmp x19, #0
    csel x0, x0, x19, eq
    bl stria_firmware_main
    bl stria_semihosting_exit
park:
    wfe
    b park

/* Nothing is expected to come here, so whatever does ends the program: number of the vector, syndrome, address
 * of the instruction, address of the access. On a stack of its own, as the stack may be what is wrong. */
    .macro vector number
    .balign 128
    mov x0, #\number
    b unexpected
    .endm

    .section .text.vectors, "ax"
    .balign 2048
    .global stria_vectors
stria_vectors:
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vector \number
    .endr

unexpected:
    ldr x4, =stria_exception_stack_end
    mov sp, x4
    mrs x1, esr_el1
    mrs x2, elr_el1
    mrs x3, far_el1
    bl stria_exception_report
    b park

    .section .note.GNU-stack, "", %progbits
