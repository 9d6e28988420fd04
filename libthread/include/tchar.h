/* tchar.h - generic text of Windows, for programs that are compiled for bytes. */
#ifndef _TCHAR_H
#define _TCHAR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char TCHAR, _TCHAR;
#define _T(text) text
#define _TEXT(text) text
#define TEXT(text) text
#define _tmain main
#define _tprintf printf
#define _ftprintf fprintf
#define _stprintf sprintf
#define _tscanf scanf
#define _stscanf sscanf
#define _fgetts fgets
#define _fputts fputs
#define _puttchar putchar
#define _tfopen fopen
#define _ttoi atoi
#define _ttol atol
#define _tcslen strlen
#define _tcscpy strcpy
#define _tcscat strcat
#define _tcscmp strcmp
#define _tcschr strchr
#define _tcsstr strstr
#define _tcstok strtok

#endif
