/* Which version of the JPEG library this is. */
#define JVERSION "6b  27-Mar-1998"
#define JCOPYRIGHT "libjpeg-turbo"
#define JCOPYRIGHT_SHORT "libjpeg-turbo"
