# A module of the kernel: calls within it, of its other sections and of the kernel, and the tables of what
# the kernel replaces.
  .globl work
  .type work, @function
work:
  call __fentry__
  call leaf
key:
  jmp leaf
  call rare
  lea data(%rip), %rax
  mov data, %eax
  movabs $data, %rax
  call printk
thunk:
  jmp __x86_return_thunk
  .size work, . - work
  .type leaf, @function
leaf:
  ret
  .size leaf, . - leaf
  .section .text.unlikely, "ax"
  .balign 16
rare:
  call work
  ret
  .section .init.text, "ax"
init:
  call work
  .section .exit.text, "ax"
quit:
  call rare
  .section .text.late, "ax"
  call quit
  .data
data:
  .quad work, data
  .section .altinstructions, "a"
  .long key - ., 0, 77
  .byte 2, 0
  .section __jump_table, "aw"
  .long key - ., leaf - .
  .quad data - .
  .section __mcount_loc, "a"
  .quad work
  .section .return_sites, "a"
  .long thunk - .
  .section .gnu.linkonce.this_module, "aw"
  .zero 64
