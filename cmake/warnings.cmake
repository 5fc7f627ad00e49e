add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wpointer-arith
                    -fno-common -fno-strict-aliasing)
if(STRIA_WERROR)
  add_compile_options(-Werror)
endif()
if(STRIA_SANITIZE)
  add_compile_options(-fsanitize=${STRIA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${STRIA_SANITIZE})
endif()
