#!/bin/sh
# size.sh NM IMAGE: what an image takes of the memory, by what it is for.
set -eu
"$1" --radix=d "$2" | awk '
    { at[$3] = $1 }
    END {
        kib = 1024
        printf "image: code %d KiB, data %d KiB, stack %d KiB, arena %d MiB\n",
            (at["stria_code_used_end"] - at["stria_code_start"] + kib - 1) / kib,
            (at["stria_bss_end"] - at["stria_code_end"] + kib - 1) / kib,
            (at["stria_exception_stack_end"] - at["stria_bss_end"] + kib - 1) / kib,
            (at["stria_arena_end"] - at["stria_arena_start"]) / kib / kib
    }'
