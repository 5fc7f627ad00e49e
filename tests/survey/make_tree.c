/* make_tree TREES NAME FOLDER: for the end-to-end tests. */
#include "tests/survey/tree.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: make_tree TREES NAME FOLDER\n");
        return 2;
    }
    return tree_make(argv[1], argv[2], argv[3]);
}
