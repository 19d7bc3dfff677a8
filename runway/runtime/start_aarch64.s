/* The first instruction: hands the stack of the kernel (argc, argv, environment, auxiliary vector)
   to skid_main, which does not return. */
	.file "start.s"
	.text
	.globl _start
	.type _start, %function
_start:
	mov x29, #0
	mov x30, #0
	mov x0, sp
	bl skid_main
	brk #1
	.size _start, . - _start
	.section .note.GNU-stack, "", %progbits
