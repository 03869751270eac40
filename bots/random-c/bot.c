/* Plays a random legal action in any game: C99 and POSIX getline, no library.
 *
 * Answering with an index needs no JSON parser, only the values of a few top-level keys and the number of
 * elements of "legal": `value` and `count` find them by walking the text, aware of strings and nesting.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The closing quote of the string that opens at s. */
static const char *string_end(const char *s) {
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return s;
}

/* Where the value of a top-level key begins ("" if there is none); `key` is given with its quotes. */
static const char *value(const char *s, const char *key) {
    for (int depth = 0; *s; s++) {
        if (*s == '{' || *s == '[')
            depth++;
        else if (*s == '}' || *s == ']')
            depth--;
        else if (*s == '"') {
            const char *end = string_end(s), *after = end;
            if (*end)
                after += 1 + strspn(end + 1, " \t");
            if (depth == 1 && *after == ':' && !strncmp(s, key, strlen(key)))
                return after + 1 + strspn(after + 1, " \t");
            s = *end ? end : end - 1;
        }
    }
    return s;
}

/* How many elements the array at s has. */
static uint64_t count(const char *s) {
    uint64_t commas = 0;
    int depth = 0, empty = 1;
    for (; *s; s++) {
        if (*s == ']' || *s == '}') {
            if (--depth == 0)
                break;
        } else if (depth == 1 && *s == ',')
            commas++;
        else if (depth >= 1 && *s != ' ' && *s != '\t')
            empty = 0;
        if (*s == '[' || *s == '{')
            depth++;
        else if (*s == '"' && !*(s = string_end(s)))
            break;
    }
    return empty ? 0 : commas + 1;
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    uint64_t random = 1; /* the state of an xorshift64 generator: never zero */
    while (getline(&line, &room, stdin) > 0) {
        const char *type = value(line, "\"type\"");
        if (!strncmp(type, "\"hello\"", 7))
            puts("{\"type\":\"hello\",\"protocol\":1,\"wants\":[\"legal\"],\"reusable\":true}");
        else if (!strncmp(type, "\"start\"", 7)) {
            /* The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits. */
            if (sscanf(value(line, "\"seed\""), "\"%16" SCNx64, &random) != 1 || random == 0)
                random = 1;
            puts("{\"type\":\"ready\"}");
        } else if (!strncmp(type, "\"act\"", 5)) {
            uint64_t legal = count(value(line, "\"legal\""));
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            printf("{\"type\":\"act\",\"id\":%ld,\"action\":%" PRIu64 "}\n",
                   strtol(value(line, "\"id\""), NULL, 10), legal ? random % legal : 0);
        } else if (!strncmp(type, "\"fault\"", 7))
            fputs(line, stderr);
        else if (!strncmp(type, "\"quit\"", 6))
            break;
        fflush(stdout); /* a pipe is fully buffered: without this the referee waits in vain */
    }
    free(line);
    return 0;
}
