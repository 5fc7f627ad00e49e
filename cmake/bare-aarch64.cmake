# A 64-bit ARM processor with nothing on it: no operating system, no C library, no start-up files but our own.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_OBJCOPY aarch64-linux-gnu-objcopy)
# What CMake tries while it gets to know the compiler cannot be linked here.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# With the MMU off all memory is device memory, where an unaligned access is a fault; the outlined atomics and
# the stack protector want a C library.
set(CMAKE_C_FLAGS_INIT "-mstrict-align -mno-outline-atomics -fno-stack-protector -fno-pie")
