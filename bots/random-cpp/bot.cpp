// Plays a random legal action in any game: C++17, no library.
//
// Answering with an index needs no JSON parser: `parts` takes an array or object apart, and what is inside its parts
// stays text.
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using std::string_view;

static std::uint64_t state = 1; // of an xorshift64 generator: never zero

static std::uint64_t below(std::uint64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? state % n : 0;
}

static string_view trimmed(string_view text) {
    const char *space = " \t\r\n";
    auto first = text.find_first_not_of(space);
    return first == text.npos ? string_view() : text.substr(first, text.find_last_not_of(space) - first + 1);
}

// The index of the closing quote of the string that opens at `at`.
static std::size_t string_end(string_view text, std::size_t at) {
    for (at++; at < text.size() && text[at] != '"'; at++)
        if (text[at] == '\\')
            at++;
    return at;
}

// What stands between the commas of the array or object `text`.
static std::vector<string_view> parts(string_view text) {
    std::vector<string_view> found;
    std::size_t begin = 1, at = 1;
    for (int depth = 1; at < text.size() && depth; at++) {
        switch (text[at]) {
        case '[': case '{': depth++; break;
        case ']': case '}': depth--; break;
        case '"': at = string_end(text, at); break;
        case ',':
            if (depth == 1) {
                found.push_back(trimmed(text.substr(begin, at - begin)));
                begin = at + 1;
            }
        }
    }
    auto last = trimmed(text.substr(begin, at - 1 - begin));
    if (!last.empty())
        found.push_back(last);
    return found;
}

int main() {
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) {
        std::map<string_view, string_view> message; // strings with their quotes
        for (auto part : parts(line)) {
            auto key_end = string_end(part, 0) + 1;
            message[part.substr(0, key_end)] = trimmed(part.substr(part.find(':', key_end) + 1));
        }
        auto type = message["\"type\""];
        if (type == "\"hello\"") {
            std::cout << R"({"type":"hello","protocol":1,"wants":["legal"],"reusable":true})" << std::endl;
        } else if (type == "\"start\"") {
            // The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
            state = std::stoull(std::string(message["\"seed\""].substr(1, 16)), nullptr, 16);
            state = state ? state : 1;
            std::cout << R"({"type":"ready"})" << std::endl;
        } else if (type == "\"act\"") {
            std::cout << R"({"type":"act","id":)" << message["\"id\""] << ",\"action\":"
                      << below(parts(message["\"legal\""]).size()) << '}' << std::endl;
        } else if (type == "\"fault\"") {
            std::cerr << line << '\n';
        } else if (type == "\"quit\"") {
            break;
        }
    }
}
