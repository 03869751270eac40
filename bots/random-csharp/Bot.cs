using System;
using System.IO;
using System.Text;

/// <summary>Plays a random legal action in any game: one file, no JSON library.</summary>
/// <remarks>
/// An answer may be an index into the list of legal actions. For that it is enough to know a few values at the top
/// level of a question, and how many items its list "legal" has. Find and Count walk through the text, and know what is
/// inside a string and how deep they are.
/// </remarks>
public static class Bot
{
    private static ulong random = 1; // the state of an xorshift64 generator: never zero

    public static void Main()
    {
        // UTF-8 without a byte order mark, which would be no JSON.
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false), false, 1 << 16);
        var output = Console.OpenStandardOutput();
        for (string line = input.ReadLine(); line != null; line = input.ReadLine())
        {
            switch (Word(line, Find(line, "type")))
            {
                case "hello":
                    Send(output, "{\"type\":\"hello\",\"protocol\":1,\"wants\":[\"legal\"],\"reusable\":true}");
                    break;
                case "start":
                    // The referee's seed makes a match reproducible; its first 16 hexadecimal digits are 64 bits.
                    string seed = Word(line, Find(line, "seed"));
                    random = Convert.ToUInt64(seed.Substring(0, Math.Min(16, seed.Length)), 16);
                    if (random == 0) random = 1;
                    Send(output, "{\"type\":\"ready\"}");
                    break;
                case "act":
                    string id = Word(line, Find(line, "id"));
                    Send(output, "{\"type\":\"act\",\"id\":" + id + ",\"action\":" + Below(Count(line, Find(line, "legal"))) + "}");
                    break;
                case "fault":
                    Console.Error.WriteLine(line);
                    break;
                case "quit":
                    return;
            }
        }
    }

    /// <summary>Write a message at once, with its newline: what waits in a buffer reaches nobody.</summary>
    private static void Send(Stream output, string message)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(message + "\n");
        output.Write(bytes, 0, bytes.Length);
        output.Flush();
    }

    private static ulong Below(ulong n)
    {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        return n == 0 ? 0 : random % n;
    }

    /// <summary>Where the string that begins at a quote has its closing quote.</summary>
    private static int StringEnd(string text, int at)
    {
        for (at++; text[at] != '"'; at++)
        {
            if (text[at] == '\\') at++;
        }
        return at;
    }

    private static int SkipSpace(string text, int at)
    {
        while (at < text.Length && char.IsWhiteSpace(text[at])) at++;
        return at;
    }

    /// <summary>Where the value of a key at the top level begins; the length of the text if there is none.</summary>
    private static int Find(string text, string key)
    {
        int depth = 0;
        for (int at = 0; at < text.Length; at++)
        {
            char c = text[at];
            if (c == '{' || c == '[') depth++;
            else if (c == '}' || c == ']') depth--;
            else if (c == '"')
            {
                int end = StringEnd(text, at);
                int colon = SkipSpace(text, end + 1);
                if (depth == 1 && colon < text.Length && text[colon] == ':' && end - at - 1 == key.Length
                    && string.CompareOrdinal(text, at + 1, key, 0, key.Length) == 0)
                {
                    return SkipSpace(text, colon + 1);
                }
                at = end;
            }
        }
        return text.Length;
    }

    /// <summary>How many items the list has that begins here.</summary>
    private static ulong Count(string text, int at)
    {
        ulong commas = 0;
        bool empty = true;
        int depth = 0;
        for (; at < text.Length; at++)
        {
            char c = text[at];
            if (c == ']' || c == '}')
            {
                if (--depth == 0) break;
                continue;
            }
            if (depth >= 1 && !char.IsWhiteSpace(c))
            {
                empty = false;
                if (depth == 1 && c == ',') commas++;
            }
            if (c == '{' || c == '[') depth++;
            else if (c == '"') at = StringEnd(text, at);
        }
        return empty ? 0 : commas + 1;
    }

    /// <summary>A string or number: types, ids and seeds hold no escapes.</summary>
    private static string Word(string text, int at)
    {
        int start = at < text.Length && text[at] == '"' ? at + 1 : at;
        int end = start;
        while (end < text.Length && "\",} \t".IndexOf(text[end]) < 0) end++;
        return text.Substring(start, end - start);
    }
}
