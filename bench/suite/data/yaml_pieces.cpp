// Reads YAML with yaml-cpp, piece by piece (separated by lines "%%%%"), many of them malformed: converts values,
// queries missing ones, writes them in other styles, reads these again, and prints the result.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace
{

std::uint64_t sum_of(const std::string &text)
{
    std::uint64_t sum = 14695981039346656037u;
    for (unsigned char byte : text)
        sum = (sum ^ byte) * 1099511628211u;
    return sum;
}

struct Seen
{
    long whole = 0;
    double real = 0;
    int texts = 0, truths = 0, nothing = 0, wrong = 0;
};

// The type of a scalar by the library's own conversions: a number, a boolean, or else a string.
void look_at(const YAML::Node &node, Seen &seen)
{
    long whole = 0;
    double real = 0;
    bool truth = false;
    if (YAML::convert<long>::decode(node, whole))
        seen.whole += whole;
    else if (YAML::convert<double>::decode(node, real))
        seen.real += real;
    else if (YAML::convert<bool>::decode(node, truth))
        seen.truths += truth;
    else
        seen.texts += static_cast<int>(node.as<std::string>().size());
    if (node.Scalar().size() % 16 == 3)
        try {
            seen.whole += node.as<std::vector<int>>().size();
        } catch (const YAML::BadConversion &) {
            seen.wrong++;
        }
}

void walk(const YAML::Node &node, Seen &seen)
{
    switch (node.Type()) {
    case YAML::NodeType::Scalar:
        return look_at(node, seen);
    case YAML::NodeType::Sequence:
        for (const auto &part : node)
            walk(part, seen);
        return;
    case YAML::NodeType::Map:
        for (const auto &entry : node) {
            look_at(entry.first, seen);
            walk(entry.second, seen);
        }
        try {
            seen.whole += node["missing"]["below"].as<int>();
        } catch (const YAML::Exception &) {
            seen.wrong++;
        }
        return;
    default:
        seen.nothing++;
    }
}

std::string written(const YAML::Node &node, bool flow)
{
    YAML::Emitter out;
    if (flow)
        out << YAML::Flow << YAML::DoubleQuoted;
    else
        out.SetIndent(4);
    out << node;
    return out.c_str();
}

std::string about(const YAML::Node &node)
{
    Seen seen;
    walk(node, seen);
    const std::string block = written(node, false), flow = written(node, true);
    if (written(YAML::Load(block), false) != block)
        throw std::logic_error("a document has changed on its way");
    std::ostringstream out;
    out << seen.whole << ' ' << seen.real << ' ' << seen.texts << ' ' << seen.truths << ' ' << seen.nothing << ' '
        << seen.wrong << std::hex << ' ' << sum_of(block) << ' ' << sum_of(flow);
    return out.str();
}

bool read(const std::string &piece, int number)
{
    try {
        for (const auto &document : YAML::LoadAll(piece)) {
            const std::string said = about(document);
            std::cout << number << ": " << said << '\n';
        }
        return true;
    } catch (const YAML::Exception &error) {
        std::cout << number << ": " << error.what() << '\n';
        return false;
    }
}

}  // namespace

int main(int count, char **words)
{
    std::ifstream stream(count == 2 ? words[1] : "");
    if (!stream) {
        std::cerr << "usage: yaml_pieces FILE\n";
        return 2;
    }
    int number = 0, good = 0;
    std::string piece;
    for (std::string line; std::getline(stream, line);)
        if (line == "%%%%") {
            good += read(piece, number++);
            piece.clear();
        } else {
            piece += line + '\n';
        }
    good += read(piece, number++);
    std::cout << good << " of " << number << '\n';
    return 0;
}
