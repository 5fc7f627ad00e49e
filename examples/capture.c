/* capture ARRAY.ini NAME <in >out: records standard input, then reads it back to standard output. */
#include <stdio.h>
#include <stria.h>

int main(int argc, char **argv)
{
    struct stria_trouble trouble = {.sentence = "usage: capture ARRAY.ini NAME"};
    struct stria_array *array = NULL;
    struct stria_writer *writer;
    struct stria_reader *reader = NULL;
    if (argc != 3 || stria_array_open(argv[1], true, &array, &trouble) < 0 ||
        stria_writer_begin(array, &(struct stria_writer_options){.name = argv[2]}, &writer, &trouble) < 0) {
        fprintf(stderr, "%s\n", trouble.sentence);
        stria_array_close(array);
        return 2;
    }
    struct stria_array_info info;
    stria_array_describe(array, &info);
    for (void *buffer; !feof(stdin) && stria_writer_acquire(writer, UINT64_MAX, &buffer) == STRIA_OK;) {
        size_t bytes = fread(buffer, 1, info.chunk_bytes, stdin); /* shorter at the end, and only there */
        if (bytes == 0 || stria_writer_commit(writer, buffer, bytes) < 0)
            break;
    }
    struct stria_result result;
    bool whole = stria_writer_end(writer) == STRIA_OK && feof(stdin); /* all of it is durable now … */
    stria_writer_result(writer, &result);                             /* … or this says what is not */
    stria_writer_free(writer);

    whole &= stria_reader_open(array, argv[2], &reader, &trouble) == 0 && result.info.dropped_bytes == 0;
    static char piece[1 << 16];
    enum stria_read_verdict verdict;
    int64_t count = 0;
    for (uint64_t at = 0;
         reader && (count = stria_reader_read(reader, at, piece, sizeof(piece), &verdict)) > 0;
         at += (uint64_t)count)
        whole &= verdict == STRIA_READ_OK && fwrite(piece, 1, (size_t)count, stdout) == (size_t)count;
    stria_reader_close(reader);
    stria_array_close(array);
    return whole && count == 0 && fflush(stdout) == 0 ? 0 : 1;
}
