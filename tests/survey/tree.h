/* Makes a recorded tree (support/tree.h) from its manifest, which is short enough to be read and kept: a line
 * an entry, blank lines and those that begin with a # left out.
 *
 *     base NAME              begins with all that the manifest NAME.tree makes
 *     under PATH             where paths without a leading slash lie from here on
 *     file PATH TEXT...      a file of one line
 *     more PATH TEXT...      one more line at its end
 *     link PATH TARGET       a symbolic link
 *     bytes PATH SIZE        a binary file of this size: zeros, or what was there
 *     text PATH OFFSET LENGTH TEXT...    a text in it, padded with blanks
 *     number PATH OFFSET BYTES VALUE     a little-endian number in it
 *     drop PATH              takes a file, link or folder away again
 *     each MARK WORD...      the lines up to "end" once for each word, MARK replaced by it */
#ifndef TESTS_SURVEY_TREE_H
#define TESTS_SURVEY_TREE_H

/* Below folder, which must be there; manifests are read from trees_folder. 0, or 1 with a complaint on
 * standard error. */
int tree_make(const char *trees_folder, const char *name, const char *folder);

/* Applies one line to a tree that is there. */
int tree_change(const char *folder, char *line);

#endif
