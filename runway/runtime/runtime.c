// All sources as one, which compiles in half the time.
#include "arguments.c"
#include "chase.c"
#include "control.c"
#include "main.c"
#include "measure.c"
#include "system.c"
#include "text.c"
