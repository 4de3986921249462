// Reads assignments and expressions, one a line, and prints their values.  Errors are thrown from nested
// calls, through frames with and without cleanups, caught, rethrown and translated.
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// One of several types; the position in the list determines which.
template <typename... Types> class OneOf;

template <typename Wanted, typename First, typename... Rest> struct IndexOf {
    static constexpr int value = 1 + IndexOf<Wanted, Rest...>::value;
};
template <typename Wanted, typename... Rest> struct IndexOf<Wanted, Wanted, Rest...> {
    static constexpr int value = 0;
};

template <typename... Types> class OneOf {
    struct Holder {
        virtual ~Holder() = default;
        virtual std::unique_ptr<Holder> copy() const = 0;
    };
    template <typename T> struct Held : Holder {
        T value;
        explicit Held(T v) : value(std::move(v)) {}
        std::unique_ptr<Holder> copy() const override { return std::make_unique<Held>(value); }
    };
    int index_;
    std::unique_ptr<Holder> holder_;

public:
    template <typename T>
    explicit OneOf(T value)
        : index_(IndexOf<T, Types...>::value), holder_(std::make_unique<Held<T>>(std::move(value))) {}
    OneOf(const OneOf &other) : index_(other.index_), holder_(other.holder_->copy()) {}
    OneOf(OneOf &&) noexcept = default;
    OneOf &operator=(const OneOf &other) {
        if (this != &other) {
            index_ = other.index_;
            holder_ = other.holder_->copy();
        }
        return *this;
    }
    OneOf &operator=(OneOf &&) noexcept = default;
    int index() const { return index_; }
    template <typename T> bool is() const { return index_ == IndexOf<T, Types...>::value; }
    template <typename T> const T &as() const {
        if (!is<T>())
            throw std::bad_cast();
        return static_cast<const Held<T> *>(holder_.get())->value;
    }
};

using Value = OneOf<long, std::string, bool>;

struct Mistake : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct SyntaxMistake : Mistake {
    std::size_t place;
    SyntaxMistake(const std::string &what, std::size_t at) : Mistake(what), place(at) {}
};
struct NameMistake : Mistake {
    using Mistake::Mistake;
};
struct Stop {
    int depth;
};

// Counts the frames that exceptions have unwound.
static int unwound = 0;
struct Scope {
    bool done = false;
    ~Scope() {
        if (!done)
            unwound++;
    }
};

// There is no object to destroy here, so that exceptions pass through without a cleanup.
static long divide(long a, long b) {
    if (b == 0)
        throw Stop{1};
    return a / b;
}

static long modest(long a, long b) {
    long result = divide(a, b);
    if (result > 1000000)
        throw 42;
    return result;
}

template <typename Order> static const Value &best(const std::vector<Value> &values, Order order) {
    const Value *found = &values.at(0);
    for (const Value &value : values)
        if (order(value.as<long>(), found->as<long>()))
            found = &value;
    return *found;
}

class Evaluator {
    std::map<std::string, Value> names_;
    std::map<std::string, std::function<Value(const std::vector<Value> &)>> functions_;
    std::string text_;
    std::size_t at_ = 0;
    int depth_ = 0;

    char look() {
        while (at_ < text_.size() && text_[at_] == ' ')
            at_++;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    void expect(char wanted) {
        if (look() != wanted)
            throw SyntaxMistake(std::string("expected ") + wanted, at_);
        at_++;
    }

    std::string word() {
        std::size_t start = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0))
            at_++;
        return text_.substr(start, at_ - start);
    }

    Value call(const std::string &name) {
        std::vector<Value> arguments;
        expect('(');
        do {
            if (!arguments.empty())
                at_++;
            if (name == "try") {
                // An error inside becomes its message; an unknown name is rethrown.
                std::size_t start = at_;
                int depth = depth_;
                try {
                    arguments.push_back(expression());
                } catch (const NameMistake &) {
                    throw;
                } catch (const SyntaxMistake &) {
                    at_ = start;
                    depth_ = depth;
                    throw;
                } catch (const Mistake &mistake) {
                    depth_ = depth;
                    arguments.emplace_back(std::string(mistake.what()));
                }
            } else {
                arguments.push_back(expression());
            }
        } while (look() == ',');
        expect(')');
        auto found = functions_.find(name);
        if (found == functions_.end())
            throw NameMistake("no function " + name);
        return found->second(arguments);
    }

    Value primary() {
        Scope scope;
        char next = look();
        if (next == '(') {
            at_++;
            Value inner = expression();
            expect(')');
            scope.done = true;
            return inner;
        }
        if (next == '-') {
            at_++;
            Value inner = primary();
            scope.done = true;
            return Value(-inner.as<long>());
        }
        if (next == '"') {
            std::size_t end = text_.find('"', at_ + 1);
            if (end == std::string::npos)
                throw SyntaxMistake("open string", at_);
            std::string inside = text_.substr(at_ + 1, end - at_ - 1);
            at_ = end + 1;
            scope.done = true;
            return Value(inside);
        }
        std::string name = word();
        if (name.empty())
            throw SyntaxMistake("expected a value", at_);
        if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) {
            scope.done = true;
            return Value(std::stol(name));
        }
        Value answer = look() == '(' ? call(name) : named(name);
        scope.done = true;
        return answer;
    }

    const Value &named(const std::string &name) const {
        auto found = names_.find(name);
        if (found == names_.end())
            throw NameMistake("no " + name);
        return found->second;
    }

    Value apply(char sign, const Value &left, const Value &right) {
        switch (sign) {
        case '+':
            if (left.is<std::string>() && right.is<std::string>())
                return Value(left.as<std::string>() + right.as<std::string>());
            return Value((left.as<long>() + right.as<long>()) % 1000003);
        case '-':
            return Value((left.as<long>() - right.as<long>()) % 1000003);
        case '*':
            return Value(left.as<long>() * right.as<long>() % 1000003);
        case '/':
            return Value(modest(left.as<long>(), right.as<long>()));
        case '<':
            return Value(left.as<long>() < right.as<long>());
        default:
            return Value(left.index() == right.index());
        }
    }

    Value expression() {
        Scope scope;
        if (++depth_ > 40)
            throw std::length_error("too deep");
        Value left = primary();
        for (char sign = look(); sign != '\0' && std::string("+-*/<=").find(sign) != std::string::npos;
             sign = look()) {
            at_++;
            Value right = primary();
            try {
                left = apply(sign, left, right);
            } catch (const Stop &stop) {
                throw Mistake("division by zero at " + std::to_string(stop.depth + depth_));
            } catch (const std::bad_cast &) {
                std::throw_with_nested(Mistake("kinds do not fit"));
            }
        }
        depth_--;
        scope.done = true;
        return left;
    }

public:
    Evaluator() {
        functions_["max"] = [](const std::vector<Value> &v) { return best(v, std::greater<long>()); };
        functions_["min"] = [](const std::vector<Value> &v) { return best(v, std::less<long>()); };
        functions_["size"] = [](const std::vector<Value> &v) {
            long size = 0;
            for (const Value &value : v)
                size += value.is<std::string>() ? static_cast<long>(value.as<std::string>().size()) : 1;
            return Value(size);
        };
        functions_["sum"] = [](const std::vector<Value> &v) {
            long sum = 0;
            for (const Value &value : v)
                sum += value.as<long>();
            return Value(sum);
        };
        functions_["try"] = [](const std::vector<Value> &v) { return v.back(); };
    }

    Value line(const std::string &text) {
        text_ = text;
        at_ = 0;
        depth_ = 0;
        std::size_t assign = text.find(":=");
        std::string name = assign == std::string::npos ? "" : text.substr(0, text.find(' '));
        if (assign != std::string::npos)
            at_ = assign + 2;
        Value value = expression();
        if (look() != '\0')
            throw SyntaxMistake("something is left over", at_);
        if (!name.empty())
            names_.insert_or_assign(name, value);
        return value;
    }
};

static void print(const Value &value) {
    if (value.is<long>())
        std::cout << value.as<long>() << '\n';
    else if (value.is<bool>())
        std::cout << (value.as<bool>() ? "yes" : "no") << '\n';
    else
        std::cout << '"' << value.as<std::string>() << "\"\n";
}

static bool evaluate(Evaluator &evaluator, const std::string &text) {
    constexpr int times = 12;
    try {
        print(evaluator.line(text));
        for (int i = 1; i < times; i++)
            evaluator.line(text);
        return true;
    } catch (const SyntaxMistake &mistake) {
        std::cout << "syntax: " << mistake.what() << " at " << mistake.place << '\n';
    } catch (const NameMistake &mistake) {
        std::cout << "name: " << mistake.what() << '\n';
    } catch (const Mistake &mistake) {
        std::cout << "mistake: " << mistake.what();
        try {
            std::rethrow_if_nested(mistake);
        } catch (const std::exception &inner) {
            std::cout << " because of " << inner.what();
        }
        std::cout << '\n';
    } catch (const std::exception &error) {
        std::cout << "error: " << error.what() << '\n';
    } catch (...) {
        std::cout << "something else\n";
    }
    return false;
}

int main(int argc, char **argv) {
    std::ifstream stream(argc > 1 ? argv[1] : "");
    if (!stream) {
        std::cerr << "usage: evaluator FILE\n";
        return 2;
    }
    Evaluator evaluator;
    std::string text;
    int good = 0, bad = 0;
    while (std::getline(stream, text))
        (evaluate(evaluator, text) ? good : bad)++;
    std::cout << good << " good, " << bad << " bad, " << unwound << " unwound\n";
    return 0;
}
