// A module of the kernel: each kind of relocation, and the tables of what the kernel replaces.
  .globl work
  .type work, %function
work:
  bl leaf
key:
  b leaf
  bl rare
  bl printk
  tbz w0, #3, leaf
  cbz x0, leaf
  adr x0, leaf
  ldr x0, leaf
  adrp x1, data
  add x1, x1, :lo12:data
  ldrb w2, [x1, :lo12:data]
  ldrh w2, [x1, :lo12:data]
  ldr w2, [x1, :lo12:data]
  ldr x2, [x1, :lo12:data]
  ldr q0, [x1, :lo12:data]
  movz x3, :abs_g3:data
  movk x3, :abs_g2_nc:data
  movk x3, :abs_g1_nc:data
  movk x3, :abs_g0_nc:data
  ret
  .size work, . - work
  .globl leaf
  .type leaf, %function
leaf:
  ret
  .size leaf, . - leaf
  .section .text.unlikely, "ax"
rare:
  b work
  .section .plt, "ax"
  .byte 0
  .data
  .balign 16
data:
  .quad work, data
  .word work - .
  .section .altinstructions, "a"
  .long key - ., 0
  .short 77
  .byte 4, 4
  .section __jump_table, "aw"
  .long key - ., leaf - .
  .quad data - .
  .section .gnu.linkonce.this_module, "aw"
  .zero 64
