// A loop of operations that records of SPE describe: loads, stores, branches of all forms. Ends after 300,000
// iterations.
  .arch armv8.2-a
  .text
  .globl _start
  .type _start, %function
_start:
  movz x20, #0x93e0
  movk x20, #4, lsl #16
  adrp x21, data
  add x21, x21, :lo12:data
  mov x22, #0
loop:
  ldr x1, [x21]
  str x1, [x21, #8]
  ldp x2, x3, [x21, #16]
  stp x2, x3, [x21, #32]
  ldrb w4, [x21, x22, lsl #0]
  strh w4, [x21, #48]!
  ldrsw x5, [x21], #-48
  ldr x6, literal
  ldrsw x7, literal
  ldr q0, [x21, #64]
  str d0, [x21, #80]
  ld1 {v0.16b-v3.16b}, [x21]
  st2 {v0.8b, v1.8b}, [x21]
  ld1r {v4.4s}, [x21]
  ldxr x8, [x21]
  stxr w9, x8, [x21]
  ldaxp x8, x10, [x21]
  stlxp w9, x8, x10, [x21]
  stxr w9, x8, [x21]            // fails: no exclusive access is open
  ldar x11, [x21]
  stlr x11, [x21]
  ldadd x11, x12, [x21]
  stadd x11, [x21]
  swpal x11, x12, [x21]
  cas x11, x12, [x21]
  casal x12, x12, [x21]
  mov x2, #0
  mov x3, #0
  casp x2, x3, x4, x5, [x21]
  prfm pldl1keep, [x21]
  dc zva, x21
  add x22, x22, #1
  and x22, x22, #63
  cmp x22, #32
  csel x13, x22, x20, lo
  ccmp x13, #4, #0, ne
  b.lo 1f
  nop
1:tbz x22, #0, 2f
  nop
2:cbnz x22, 3f
  mov x8, #172                  // getpid
  svc #0
3:bl function
  adr x14, 4f
  br x14
4:adr x14, function
  blr x14
  b 5f
literal:
  .xword 0x1234
5:subs x20, x20, #1
  b.ne loop
  mov x0, #0
  mov x8, #93                   // exit
  svc #0
  .size _start, . - _start
  .type function, %function
function:
  ret
  .size function, . - function
  .bss
  .balign 4096
data:
  .zero 8192
