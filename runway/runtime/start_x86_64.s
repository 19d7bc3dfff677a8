/* The first instruction: hands the stack of the kernel (argc, argv, environment, auxiliary vector)
   to skid_main, which does not return. */
	.file "start.s"
	.text
	.globl _start
	.type _start, @function
_start:
	xorl %ebp, %ebp
	movq %rsp, %rdi
	andq $-16, %rsp
	call skid_main
	hlt
	.size _start, . - _start
	.section .note.GNU-stack, "", @progbits
