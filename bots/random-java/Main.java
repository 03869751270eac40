import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Plays a random legal action in any game: one file, the JDK alone.
 *
 * <p>Answering with an index needs no JSON parser, only the values of a few top-level keys and the number of
 * elements of "legal": {@link #value} and {@link #count} find them by walking the text, aware of strings and
 * nesting.
 */
public final class Main {
    private static long random = 1; // the state of an xorshift64 generator: never zero

    public static void main(String[] arguments) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        var output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            switch (word(line, value(line, "type"))) {
                case "hello" -> send(output,
                        "{\"type\":\"hello\",\"protocol\":1,\"wants\":[\"legal\"],\"reusable\":true}");
                case "start" -> {
                    // The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
                    String seed = word(line, value(line, "seed"));
                    random = Long.parseUnsignedLong(seed.substring(0, Math.min(16, seed.length())), 16);
                    if (random == 0) {
                        random = 1;
                    }
                    send(output, "{\"type\":\"ready\"}");
                }
                case "act" -> send(output, "{\"type\":\"act\",\"id\":" + word(line, value(line, "id"))
                        + ",\"action\":" + below(count(line, value(line, "legal"))) + "}");
                case "fault" -> System.err.println(line);
                case "quit" -> {
                    return;
                }
                default -> { }
            }
        }
    }

    /** One write a message, newline included, so that it reaches the referee as one piece. */
    private static void send(PrintStream output, String message) {
        output.print(message + "\n");
        output.flush();
    }

    private static long below(long n) {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return n == 0 ? 0 : Long.remainderUnsigned(random, n);
    }

    /** The index of the closing quote of the string that opens at {@code at}. */
    private static int stringEnd(String text, int at) {
        for (at++; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) == '\\') {
                at++;
            }
        }
        return at;
    }

    private static int skipSpace(String text, int at) {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /** Where the value of a top-level key begins; the text's length if there is no such key. */
    private static int value(String text, String key) {
        int depth = 0;
        for (int at = 0; at < text.length(); at++) {
            switch (text.charAt(at)) {
                case '{', '[' -> depth++;
                case '}', ']' -> depth--;
                case '"' -> {
                    int end = stringEnd(text, at);
                    int colon = skipSpace(text, end + 1);
                    if (depth == 1 && colon < text.length() && text.charAt(colon) == ':'
                            && end - at - 1 == key.length() && text.startsWith(key, at + 1)) {
                        return skipSpace(text, colon + 1);
                    }
                    at = end;
                }
                default -> { }
            }
        }
        return text.length();
    }

    /** How many elements the array at {@code at} has. */
    private static long count(String text, int at) {
        long commas = 0;
        boolean empty = true;
        for (int depth = 0; at < text.length(); at++) {
            char character = text.charAt(at);
            if (character == ']' || character == '}') {
                if (--depth == 0) {
                    break;
                }
            } else if (depth >= 1 && !Character.isWhitespace(character)) {
                empty = false;
                if (depth == 1 && character == ',') {
                    commas++;
                }
            }
            if (character == '[' || character == '{') {
                depth++;
            } else if (character == '"') {
                at = stringEnd(text, at);
            }
        }
        return empty ? 0 : commas + 1;
    }

    /** A plain string or number at {@code at}: types, ids and seeds hold no escapes. */
    private static String word(String text, int at) {
        int start = at < text.length() && text.charAt(at) == '"' ? at + 1 : at;
        int end = start;
        while (end < text.length() && "\",} \t".indexOf(text.charAt(end)) < 0) {
            end++;
        }
        return text.substring(start, end);
    }
}
