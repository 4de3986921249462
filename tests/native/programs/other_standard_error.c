/* Closes standard error and opens files of its own: the first one gets its number.  With an argument it is a log. */
#include <fcntl.h>
#include <unistd.h>

int main(int count, char **arguments) {
    (void)arguments;
    close(STDERR_FILENO);
    int file = open("own", O_WRONLY | O_CREAT | (count > 1 ? O_APPEND : 0), 0666);
    return write(file, "data", 4) == 4 && file == STDERR_FILENO ? 0 : 1;
}
