int clamp(int value, int least, int most);
