/* Records standard input on an array, then reads it back to standard output: capture ARRAY.ini NAME <in >out
 */
#include <stdio.h>
#include <stria.h>

int main(int argc, char **argv)
{
    struct stria_trouble trouble = {0};
    struct stria_array *array = NULL;
    struct stria_writer *writer = NULL;
    struct stria_reader *reader = NULL;
    struct stria_writer_options options = {.name = argc > 2 ? argv[2] : NULL};
    if (argc < 2 || stria_array_open(argv[1], true, &array, &trouble) != STRIA_OK ||
        stria_writer_begin(array, &options, &writer, &trouble) != STRIA_OK) {
        fprintf(stderr, "%s\n", argc < 2 ? "usage: capture ARRAY.ini [NAME]" : trouble.sentence);
        stria_array_close(array);
        return 2;
    }
    struct stria_array_info info;
    stria_array_describe(array, &info);
    void *buffer;
    size_t bytes = info.chunk_bytes;
    while (bytes == info.chunk_bytes && stria_writer_acquire(writer, UINT64_MAX, &buffer) == STRIA_OK) {
        bytes = fread(buffer, 1, info.chunk_bytes, stdin); /* shorter at the end, and only there */
        if (bytes > 0)
            stria_writer_commit(writer, buffer, bytes);
    }
    struct stria_result result;
    int code = stria_writer_end(writer); /* everything is durable now, or the result says what is not */
    stria_writer_result(writer, &result);
    stria_writer_free(writer);

    if (code == STRIA_OK)
        code = stria_reader_open(array, result.info.name, &reader, &trouble);
    bool whole = code == STRIA_OK && result.info.dropped_bytes == 0;
    static char piece[1 << 16];
    enum stria_read_verdict verdict;
    int64_t count = 0;
    for (uint64_t offset = 0;
         reader && (count = stria_reader_read(reader, offset, piece, sizeof(piece), &verdict)) > 0;
         offset += (uint64_t)count)
        whole &= verdict == STRIA_READ_OK && fwrite(piece, 1, (size_t)count, stdout) == (size_t)count;
    stria_reader_close(reader);
    stria_array_close(array);
    return whole && count == 0 ? 0 : 1;
}
