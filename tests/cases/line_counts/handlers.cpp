#include <map>
#include <stdexcept>
#include <string>
static int find(const std::string &s)
{
    if (s == "a")
        throw std::invalid_argument(s);
    if (s == "b")
        throw std::out_of_range(s);
    if (s == "c")
        throw 3;
    return (int)s.size();
}
static int clauses(const std::string &s)
{
    try {
        return find(s);
    } catch (const std::invalid_argument &e) {
        return -1;
    } catch (const std::out_of_range &) {
        return -2;
    }
}
static int every(const std::string &s)
{
    int n = 0;
    try {
        n = clauses(s);
    }
    catch (int e)
    {
        n = e;
    }
    catch (...)
    {
        n = 9;
    }
    return n;
}
static int all(const std::string &s)
{
    try {
        return every(s) + find(s);
    } catch (...) {
        return 1;
    }
}
int main()
{
    std::map<std::string, int> m;
    for (const char *key : {"a", "b", "c", "dd"})
        m[key] = (int)m.size() + 1;
    int n = 0;
    for (const auto &[key, value] : m)
        n += value * all(key);
    n += all("a") + all("a");
    return n == 0;
}
