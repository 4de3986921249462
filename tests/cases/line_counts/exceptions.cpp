#include <stdexcept>
#include <string>
static long apply(char op, long a, long b)
{
    switch (op) {
    case '+':
        return a + b;
    case '/':
        if (b == 0)
            throw std::runtime_error("division by zero");
        return a / b;
    default:
        throw std::runtime_error(std::string("bad operator ") + op);
    }
}
struct S { std::string s; long n; };
static std::string twice(const std::string &t)
{
    std::string r = t;
    if (t.empty())
        throw std::runtime_error("empty");
    r += t;
    return r;
}
int main()
{
    long n = 0;
    const char *ops = "+/^^^+";
    for (int i = 0; ops[i]; i++) {
        try {
            n += apply(ops[i], 1, 0);
        } catch (const std::exception &e) {
            n += 100;
        }
    }
    try {
        n += twice("ab").size();
        n += twice("abc").size();
        n += twice("").size();
    } catch (const std::runtime_error &e) {
        n++;
    }
    return n == 313 ? 0 : 1;
}
