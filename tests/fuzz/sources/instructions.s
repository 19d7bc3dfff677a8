# Instructions of all kinds, for make_corpus.sh: each is decoded, none runs.
.intel_syntax noprefix
push rax
push qword ptr [rax]
push 5
pop rax
pop qword ptr [rax]
call .
call [rax]
call rax
ret
ret 8
leave
enter 8,0
pushf
popf
iretq
syscall
sysenter
int3
int 0x80
jmp [rax]
jmp rax
jne .
jrcxz .
loop .
lretq
ljmp [rax]
lcall [rax]
xlatb
rep movsb
movsq
lodsb
stosq
rep stosb
scasb
cmpsb
insb
outsb
rep insb
in al,dx
out dx,al
in eax,5
lea rax,[rax]
nop
nop dword ptr [rax]
nop ax
endbr64
prefetcht0 [rax]
prefetchw [rax]
prefetchnta [rax]
clflush [rax]
clflushopt [rax]
clwb [rax]
cldemote [rax]
clzero
monitor
mwait
umonitor rax
invlpg [rax]
lgdt [rax]
sgdt [rax]
fxsave [rax]
fxrstor [rax]
xsave [rax]
xsavec [rax]
xsaveopt [rax]
xrstor [rax]
ldmxcsr [rax]
stmxcsr [rax]
fld qword ptr [rax]
fstp tbyte ptr [rax]
fadd st, st(1)
fadd dword ptr [rax]
fdiv st, st(1)
fsqrt
fnstenv [rax]
fldcw [rax]
fnstcw [rax]
fnstsw ax
fnop
fwait
emms
movq mm0,[rax]
paddb mm0,mm1
cmpxchg [rax],rcx
lock cmpxchg [rax],rcx
lock cmpxchg16b [rax]
cmpxchg8b [rax]
xadd [rax],rcx
xadd rax,rcx
xchg [rax],rcx
xchg rax,rcx
lock inc dword ptr [rax]
inc dword ptr [rax]
bt [rax],rcx
bts [rax],rcx
lock bts [rax],rcx
cmovne rax,[rax]
sete [rax]
sete al
div rcx
div qword ptr [rax]
idiv dword ptr [rax]
divps xmm0,[rax]
vdivpd ymm0,ymm1,[rax]
sqrtsd xmm0,xmm1
vsqrtpd zmm0,[rax]
movntdqa xmm0,[rax]
vmovntdqa ymm0,[rax]
vmovntdqa zmm0,[rax]
movntdq [rax],xmm0
movnti [rax],rcx
movntq [rax],mm0
maskmovdqu xmm0,xmm1
maskmovq mm0,mm1
vmaskmovps ymm0,ymm1,[rax]
vmaskmovps [rax],ymm1,ymm0
vpgatherdd ymm0,[rax+ymm1*4],ymm2
vpgatherdd zmm0{k1},[rax+zmm1*4]
vpscatterdd [rax+zmm1*4]{k1},zmm0
vgatherpf0dps [rax+zmm1*4]{k1}
vmovdqu32 zmm0{k1},[rax]
vmovdqu32 [rax]{k1},zmm0
vpcompressd [rax]{k1},zmm0
vaddps zmm0,zmm1,dword ptr [rax]{1to16}
vmovss xmm0{k1},[rax]
vmovsh xmm0,[rax]
kmovq k1,[rax]
kmovq [rax],k1
kmovq k1,rax
kandq k1,k2,k3
mulx rax,rcx,[rax]
movbe rax,[rax]
movbe [rax],rax
pextrb [rax],xmm0,1
pinsrb xmm0,[rax],1
cvtsi2sd xmm0,dword ptr [rax]
cvttsd2si eax,[rax]
ucomisd xmm0,[rax]
movd xmm0,[rax]
movmskps eax,xmm0
vextracti128 [rax],ymm0,1
vcvtpd2ps xmm0,ymmword ptr [rax]
vcvtps2ph [rax],ymm0,1
vpbroadcastd ymm0,[rax]
vzeroupper
vzeroall
crc32 eax,byte ptr [rax]
popcnt rax,rcx
tzcnt rax,rcx
lzcnt rax,[rax]
bsf rax,rcx
bswap rax
movsx eax,byte ptr [rax]
movsxd rax,dword ptr [rax]
mov ds,[rax]
mov ds,eax
mov [rax],ds
mov cr0,rax
mov rax,dr0
mov rax,fs:[0]
mov rax,[rax]
mov [rax],rax
mov rax,rcx
movabs al,[0x1122334455667788]
add [rax],ecx
cmp [rax],ecx
test [rax],ecx
and ecx,[rax]
not byte ptr [rax]
shl dword ptr [rax],1
shld [rax],ecx,3
lahf
sahf
cld
std
cli
sti
clac
cmc
cdqe
cqo
pause
hlt
ud2
rdtsc
rdtscp
rdpmc
rdrand rax
rdseed rax
rdpid rax
rdfsbase rax
swapgs
wrmsr
xgetbv
xbegin .
xend
xabort 1
xtest
mfence
lfence
sfence
cpuid
wbinvd
invd
aesenc xmm0,[rax]
sha1msg1 xmm0,xmm1
pclmulqdq xmm0,xmm1,1
vfmadd231ps ymm0,ymm1,[rax]
gf2p8mulb xmm0,xmm1
pcmpistri xmm0,xmm1,1
movdir64b rax,[rcx]
movdiri [rax],ecx
enqcmd rax,[rcx]
serialize
tilezero tmm0
tileloadd tmm0,[rax+rcx]
tilestored [rax+rcx],tmm0
ldtilecfg [rax]
tdpbssd tmm0,tmm1,tmm2
bndmk bnd0,[rax]
bndldx bnd0,[rax+rcx]
bndstx [rax+rcx],bnd0
bndmov bnd0,[rax]
bndcl bnd0,[rax]
lar eax,word ptr [rax]
verr word ptr [rax]
lfs eax,fword ptr [rax]
str word ptr [rax]
smsw [rax]
invpcid rax,[rax]
andn rax,rcx,[rax]
pdep rax,rcx,rdx
adcx rax,rcx
wrpkru
rdsspq rax
incsspq rax
wrssq [rax],rcx
setssbsy
clrssbsy [rax]
rstorssp [rax]
ptwrite rax
vmread [rax],rcx
tpause eax
lwpval rax,[rax],1
femms
pfadd mm0,[rax]
insertq xmm0,xmm1
extrq xmm0,xmm1
vprotd xmm0,xmm1,xmm2
blcfill rax,rcx
vfmaddps xmm0,xmm1,xmm2,xmm3
vpclmulqdq zmm0,zmm1,zmm2,1
vp2intersectd k2,zmm1,[rax]
aesenc128kl xmm0,[rax]
uiret
senduipi rax
clui
