// Conditions of several tests in C++.  Each part that a report may name is marked by P: the test strips these
// marks, or replaces them by counters.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

volatile int sink;
__attribute__((noinline)) static void put(int x) { sink = sink + x; }
__attribute__((noinline)) static int odd(int x) { return x & 1; }
__attribute__((noinline)) static int checked(int x) {
    if (x == 97)
        throw x;
    return x & 1;
}

struct Node {
    int value;
    std::unique_ptr<Node> next;
    bool empty() const { return value == 0; }
    explicit operator bool() const { return value > 2; }
};

template <typename T> __attribute__((noinline)) static int search(const std::vector<T> &all, T wanted) {
    int found = 0;
    for (const auto &each : all) {
        if (P(P(each == wanted) || P(each > 8)))
            found++;
        else if (P(P(found > 1) and P(not odd(found))))
            put(found);
    }
    return found;
}

__attribute__((noinline)) static int members(const Node *node, int x) {
    int s = 0;
    while (P(P(node) && P(!node->empty()))) {
        if (P(P(*node) && P(node->value < x)))
            s++;
        if (P(P(node->next) && P(P(node->next->empty()) || P(odd(x)))))
            put(s);
        node = node->next.get();
    }
    return s;
}

__attribute__((noinline)) static int initialised(const std::map<int, int> &table, int x) {
    int s = 0;
    if (auto at = table.find(x); P(P(at != table.end()) && P(at->second > 2)))
        put(at->second);
    if (int y = x * 3 % 7; P(P(y > 2) && P(odd(y))))
        s += y;
    if (P(int z = odd(x)))
        s += z;
    try {
        if (P(P(x > 50) && P(P(checked(x)) && P(checked(x + 1) == 0))))
            put(1);
        s += P(x % 5 == 2) ? checked(x) : 3;
    } catch (int thrown) {
        if (P(P(thrown > 90) || P(s)))
            put(thrown);
    }
    return s;
}

int main() {
    std::vector<int> all;
    std::map<int, int> table;
    std::unique_ptr<Node> list;
    for (int i = 0; i < 40; i++) {
        all.push_back(i % 11);
        table[i * 3] = i % 5;
        list = std::unique_ptr<Node>(new Node{(39 - i) % 7, std::move(list)});
    }
    for (int i = 0; i < 200; i++)
        put(search(all, i % 13) + members(list.get(), i % 6) + initialised(table, i % 100));
    return 0;
}
