int digits(const char *text)
{
    int found = 0;
    for (; *text; text++)
        if (*text >= '0' && *text <= '9')
            found++;
    return found;
}
