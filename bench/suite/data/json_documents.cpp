// Reads documents with nlohmann::json, one a line, many of them malformed: queries them, compares each with
// the previous one, changes it, converts it to the binary formats and back, and prints the result.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

using nlohmann::json;

namespace
{

struct Item
{
    std::string name;
    double price;
    std::vector<int> sizes;
    std::optional<std::string> note;
};

void from_json(const json &from, Item &to)
{
    from.at("name").get_to(to.name);
    from.at("price").get_to(to.price);
    from.at("sizes").get_to(to.sizes);
    if (auto found = from.find("note"); found != from.end() && !found->is_null())
        to.note = found->get<std::string>();
}

void to_json(json &to, const Item &from)
{
    to = {{"name", from.name}, {"price", from.price}, {"sizes", from.sizes}};
    if (from.note)
        to["note"] = *from.note;
}

std::uint64_t sum_of(const std::string &text)
{
    std::uint64_t sum = 14695981039346656037u;
    for (unsigned char byte : text)
        sum = (sum ^ byte) * 1099511628211u;
    return sum;
}

// How often each kind of error was thrown, by its number.
using Errors = std::map<int, int>;

template <typename Action> bool tried(Errors &errors, Action action)
{
    try {
        action();
        return true;
    } catch (const json::exception &error) {
        errors[error.id]++;
        return false;
    }
}

double total(const json &value)
{
    if (value.is_structured()) {
        double sum = 0;
        for (const auto &part : value)
            sum += total(part);
        return sum;
    }
    return value.is_number() ? value.get<double>() : 0;
}

int answered(const json &document, Errors &errors)
{
    int found = 0;
    const json flat = document.flatten();
    for (const auto &entry : flat.items()) {
        const json::json_pointer place(entry.key());
        found += document.at(place) == entry.value();
        if (entry.key().size() % 11 == 0)
            found += tried(errors, [&] { (void)document.at(place / "below").is_null(); });
        if (entry.key().size() % 13 == 0)
            found += tried(errors, [&] { (void)document.at(place).get<bool>(); });
    }
    return found;
}

std::vector<Item> items_of(const json &document, Errors &errors)
{
    std::vector<Item> items;
    if (document.is_object() && document.contains("items"))
        for (const auto &part : document["items"])
            tried(errors, [&] { items.push_back(part.get<Item>()); });
    return items;
}

void carry_through(const json &document, Errors &errors)
{
    auto bytes = json::to_cbor(document);
    if (json::from_cbor(bytes) != document || json::from_msgpack(json::to_msgpack(document)) != document)
        throw std::logic_error("a document has changed on its way");
    bytes.resize(bytes.size() - bytes.size() / 3);
    tried(errors, [&] { (void)json::from_cbor(bytes); });
}

json changed(const json &before, const json &after, Errors &errors)
{
    const json patch = json::diff(before, after);
    json result = before.patch(patch);
    if (result != after)
        throw std::logic_error("a patch leads elsewhere");
    tried(errors, [&] { (void)after.patch(patch); });
    result.merge_patch({{"seen", patch.size()}, {"items", nullptr}});
    return result;
}

}  // namespace

int main(int count, char **words)
{
    std::ifstream stream(count == 2 ? words[1] : "");
    if (!stream) {
        std::cerr << "usage: json_documents FILE\n";
        return 2;
    }
    Errors errors;
    json before;
    int number = 0;
    for (std::string line; std::getline(stream, line); ++number) {
        json document;
        try {
            document = json::parse(line);
        } catch (const json::parse_error &error) {
            errors[error.id]++;
            std::cout << number << ": " << error.what() << '\n';
            continue;
        }
        const int found = answered(document, errors);
        carry_through(document, errors);
        const json result = changed(before, document, errors);
        const json items = items_of(document, errors);
        std::cout << number << ": " << found << ' ' << json(total(document)) << ' ' << items.size() << ' ' << std::hex
                  << sum_of(document.dump(2)) << ' ' << sum_of(result.dump(-1, ' ', true)) << ' '
                  << sum_of(items.dump()) << std::dec << '\n';
        before = document;
    }
    for (const auto &[id, times] : errors)
        std::cout << "error " << id << ": " << times << '\n';
    return 0;
}
