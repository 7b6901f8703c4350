/* Does the tasks of the workload `cipher` with the machine's libcrypto.so.3, by EVP functions that
 * it looks up by name: no header of OpenSSL, nothing linked. Knows the protocol below, no more.
 *
 * In, a line each, bytes as hexadecimal digits ("-" for none):
 *     task ALGORITHM OPERATION, key, start, aad, message, signature, then: make
 *     run N    does it N times                     -> ran NANOSECONDS
 *     last     what the last of them gave          -> last START OUTPUT
 * Out, to `make`: version TEXT, cpu TEXT, made. To anything: missing TEXT, or failed TEXT.
 * It ends with its input. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef __GLIBC__
#error "a libcrypto.so of glibc cannot be loaded without glibc"
#endif

enum { LINE = 1 << 17, ROOM = 1 << 15, TAG = 16 };
enum { NID_X25519 = 1034, NID_ED25519 = 1087, GET_TAG = 0x10, PKCS1 = 1, CPU_SETTINGS = 1008 };

typedef struct { unsigned char *at; size_t length; } Bytes;

static Bytes key, start, aad, message, signature;
static unsigned char output[ROOM];
static size_t written;
static int accepted = 1;
static char algorithm[64], operation[64];

static void say(const char *word, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    fputs(word, stdout);
    putchar(' ');
    vprintf(format, rest);
    putchar('\n');
    fflush(stdout);
    va_end(rest);
}

_Noreturn static void stop(const char *word, const char *what) {
    say(word, "%s", what);
    exit(1);
}

/* The functions, as libcrypto 3.0 declares them. */
#define FUNCTIONS(F) \
    F(const char *, OpenSSL_version, (int)) \
    F(const char *, OPENSSL_info, (int)) \
    F(void *, EVP_MD_fetch, (void *, const char *, const char *)) \
    F(void *, EVP_MD_CTX_new, (void)) \
    F(int, EVP_DigestInit_ex2, (void *, const void *, const void *)) \
    F(int, EVP_DigestUpdate, (void *, const void *, size_t)) \
    F(int, EVP_DigestFinal_ex, (void *, unsigned char *, unsigned int *)) \
    F(int, EVP_DigestSignInit, (void *, void **, const void *, void *, void *)) \
    F(int, EVP_DigestSign, (void *, unsigned char *, size_t *, const unsigned char *, size_t)) \
    F(int, EVP_DigestVerifyInit, (void *, void **, const void *, void *, void *)) \
    F(int, EVP_DigestVerify, (void *, const unsigned char *, size_t, const unsigned char *, \
                              size_t)) \
    F(void *, EVP_CIPHER_fetch, (void *, const char *, const char *)) \
    F(void *, EVP_CIPHER_CTX_new, (void)) \
    F(int, EVP_CIPHER_CTX_set_padding, (void *, int)) \
    F(int, EVP_CIPHER_CTX_ctrl, (void *, int, int, void *)) \
    F(int, EVP_EncryptInit_ex2, (void *, const void *, const unsigned char *, \
                                 const unsigned char *, const void *)) \
    F(int, EVP_EncryptUpdate, (void *, unsigned char *, int *, const unsigned char *, int)) \
    F(int, EVP_EncryptFinal_ex, (void *, unsigned char *, int *)) \
    F(void *, d2i_AutoPrivateKey, (void **, const unsigned char **, long)) \
    F(void *, EVP_PKEY_new_raw_private_key, (int, void *, const unsigned char *, size_t)) \
    F(void *, EVP_PKEY_new_raw_public_key, (int, void *, const unsigned char *, size_t)) \
    F(void *, EVP_PKEY_CTX_new_from_pkey, (void *, void *, const char *)) \
    F(const void *, EVP_sha256, (void)) \
    F(int, EVP_PKEY_CTX_set_rsa_padding, (void *, int)) \
    F(int, EVP_PKEY_CTX_set_signature_md, (void *, const void *)) \
    F(int, EVP_PKEY_sign_init, (void *)) \
    F(int, EVP_PKEY_sign, (void *, unsigned char *, size_t *, const unsigned char *, size_t)) \
    F(int, EVP_PKEY_verify_init, (void *)) \
    F(int, EVP_PKEY_verify, (void *, const unsigned char *, size_t, const unsigned char *, \
                             size_t)) \
    F(int, EVP_PKEY_derive_init, (void *)) \
    F(int, EVP_PKEY_derive_set_peer, (void *, void *)) \
    F(int, EVP_PKEY_derive, (void *, unsigned char *, size_t *))

#define DECLARE(type, name, parameters) static type (*name) parameters;
FUNCTIONS(DECLARE)

static void load(void) {
    void *library = dlopen("libcrypto.so.3", RTLD_NOW);
    if (!library) stop("missing", dlerror());
#define LOOK_UP(type, name, parameters) \
    *(void **)&name = dlsym(library, #name); \
    if (!name) stop("missing", "libcrypto.so.3 has no " #name);
    FUNCTIONS(LOOK_UP)
}

/* What a task is done with, made once. */
static void *context, *digest;
/* Whether a signing context has to be begun anew for every signature; some releases want it. */
static int again;

static int digests(void) {
    unsigned int length;
    int done = EVP_DigestInit_ex2(context, digest, NULL)
        && EVP_DigestUpdate(context, message.at, message.length)
        && EVP_DigestFinal_ex(context, output, &length);
    written = length;
    return done;
}

static int encrypts(void) {
    int length = 0;
    memcpy(start.at, output + message.length - 16, 16);
    return EVP_EncryptUpdate(context, output, &length, message.at, (int)message.length)
        && (size_t)length == message.length;
}

/* The last eight bytes count, most significant first. */
static void advance(int more) {
    uint64_t count;
    unsigned char *at = start.at + start.length - 8;
    memcpy(&count, at, 8);
    count = __builtin_bswap64(__builtin_bswap64(count) + (uint64_t)(int64_t)more);
    memcpy(at, &count, 8);
}

static int seals(void) {
    int length = 0, rest = 0;
    advance(1);
    int done = EVP_EncryptInit_ex2(context, NULL, NULL, start.at, NULL)
        && EVP_EncryptUpdate(context, NULL, &length, aad.at, (int)aad.length)
        && EVP_EncryptUpdate(context, output, &length, message.at, (int)message.length)
        && EVP_EncryptFinal_ex(context, output + length, &rest)
        && EVP_CIPHER_CTX_ctrl(context, GET_TAG, TAG, output + message.length);
    written = message.length + TAG;
    return done;
}

static int signs(void) {
    written = ROOM;
    return EVP_PKEY_sign(context, output, &written, message.at, message.length) == 1;
}

static int verifies(void) {
    accepted &= EVP_PKEY_verify(context, signature.at, signature.length, message.at,
                                message.length) == 1;
    return 1;
}

static int signs_whole(void) {
    written = ROOM;
    return (!again || EVP_DigestSignInit(context, NULL, NULL, NULL, NULL) == 1)
        && EVP_DigestSign(context, output, &written, message.at, message.length) == 1;
}

static int verifies_whole(void) {
    if (again && EVP_DigestVerifyInit(context, NULL, NULL, NULL, NULL) != 1) return 0;
    accepted &= EVP_DigestVerify(context, signature.at, signature.length, message.at,
                                 message.length) == 1;
    return 1;
}

static int agrees(void) {
    written = ROOM;
    return EVP_PKEY_derive(context, output, &written) == 1;
}

static int (*pass)(void);

static int is(const char *name) { return strcmp(algorithm, name) == 0; }

static int make_digest(const char *name) {
    context = EVP_MD_CTX_new();
    digest = EVP_MD_fetch(NULL, name, NULL);
    if (!digest) stop("missing", "libcrypto.so.3 does not give this digest");
    pass = digests;
    return context && EVP_DigestInit_ex2(context, digest, NULL);
}

static int make_cipher(const char *name, int aead) {
    void *cipher = EVP_CIPHER_fetch(NULL, name, NULL);
    if (!cipher) stop("missing", "libcrypto.so.3 does not give this cipher");
    context = EVP_CIPHER_CTX_new();
    pass = aead ? seals : encrypts;
    int fits = key.length == 32 && start.length == (aead ? 12 : 16)
        && (aead || (message.length && message.length % 16 == 0));
    if (!context || !fits) return 0;
    if (!EVP_EncryptInit_ex2(context, cipher, key.at, start.at, NULL)) return 0;
    if (aead) {
        advance(-1);
        return 1;
    }
    memcpy(output + message.length - 16, start.at, 16);
    written = message.length;
    return EVP_CIPHER_CTX_set_padding(context, 0);
}

static int make_signature(void) {
    const unsigned char *from = key.at;
    void *private = d2i_AutoPrivateKey(NULL, &from, (long)key.length);
    context = private ? EVP_PKEY_CTX_new_from_pkey(NULL, private, NULL) : NULL;
    if (!context) return 0;
    int verify = strcmp(operation, "verify") == 0;
    pass = verify ? verifies : signs;
    return (verify ? EVP_PKEY_verify_init(context) : EVP_PKEY_sign_init(context)) == 1
        && (!is("rsa-2048") || EVP_PKEY_CTX_set_rsa_padding(context, PKCS1) == 1)
        && EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1;
}

static int make_ed25519(void) {
    void *private = EVP_PKEY_new_raw_private_key(NID_ED25519, NULL, key.at, key.length);
    context = EVP_MD_CTX_new();
    if (!private || !context) return 0;
    int verify = strcmp(operation, "verify") == 0;
    pass = verify ? verifies_whole : signs_whole;
    int begun = verify ? EVP_DigestVerifyInit(context, NULL, NULL, NULL, private)
                       : EVP_DigestSignInit(context, NULL, NULL, NULL, private);
    if (begun != 1) return 0;
    /* Two in a row show whether it has to be begun anew. */
    for (int i = 0; i < 2; i++) {
        accepted = 1;
        if (!pass() || !accepted) again = 1;
    }
    accepted = 1;
    return 1;
}

static int make_x25519(void) {
    void *private = EVP_PKEY_new_raw_private_key(NID_X25519, NULL, key.at, key.length);
    void *peer = EVP_PKEY_new_raw_public_key(NID_X25519, NULL, start.at, start.length);
    context = private ? EVP_PKEY_CTX_new_from_pkey(NULL, private, NULL) : NULL;
    pass = agrees;
    return context && peer && EVP_PKEY_derive_init(context) == 1
        && EVP_PKEY_derive_set_peer(context, peer) == 1;
}

static int make(void) {
    if (message.length + TAG > ROOM) return 0;
    if (is("md5")) return make_digest("MD5");
    if (is("sha256")) return make_digest("SHA2-256");
    if (is("sha512")) return make_digest("SHA2-512");
    if (is("aes-256-cbc")) return make_cipher("AES-256-CBC", 0);
    if (is("aes-256-gcm")) return make_cipher("AES-256-GCM", 1);
    if (is("chacha20-poly1305")) return make_cipher("ChaCha20-Poly1305", 1);
    if (is("rsa-2048") || is("ecdsa-p256")) return make_signature();
    if (is("ed25519")) return make_ed25519();
    if (is("x25519")) return make_x25519();
    return 0;
}

static int nibble(int c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void take(Bytes *bytes, const char *text) {
    size_t length = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;
    bytes->at = malloc(length + 16);
    bytes->length = length;
    if (!bytes->at) stop("failed", "no memory");
    for (size_t i = 0; i < length; i++) {
        int high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);
        if (high < 0 || low < 0) stop("failed", "not hexadecimal");
        bytes->at[i] = (unsigned char)(high << 4 | low);
    }
}

static void put(const unsigned char *at, size_t length) {
    if (length == 0) putchar('-');
    for (size_t i = 0; i < length; i++) printf("%02x", at[i]);
}

static void last(void) {
    fputs("last ", stdout);
    if (strcmp(operation, "verify") == 0) {
        int all = accepted;
        accepted = 1;
        message.at[0] ^= 1;
        pass();
        message.at[0] ^= 1;
        unsigned char both[2] = {(unsigned char)all, (unsigned char)!accepted};
        accepted = all;
        putchar('-');
        putchar(' ');
        put(both, 2);
    } else {
        put(start.at, start.length);
        putchar(' ');
        put(output, written);
    }
    putchar('\n');
    fflush(stdout);
}

static void run(unsigned long long passes) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned long long i = 0; i < passes; i++) {
        if (!pass()) stop("failed", "libcrypto.so.3 refused the task");
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    say("ran", "%lld", (to.tv_sec - from.tv_sec) * 1000000000LL + to.tv_nsec - from.tv_nsec);
}

int main(void) {
    static char line[LINE];
    load();
    while (fgets(line, LINE, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *rest = strchr(line, ' ');
        if (rest) *rest++ = 0;
        else rest = "";
        if (strcmp(line, "task") == 0) sscanf(rest, "%63s %63s", algorithm, operation);
        else if (strcmp(line, "key") == 0) take(&key, rest);
        else if (strcmp(line, "start") == 0) take(&start, rest);
        else if (strcmp(line, "aad") == 0) take(&aad, rest);
        else if (strcmp(line, "message") == 0) take(&message, rest);
        else if (strcmp(line, "signature") == 0) take(&signature, rest);
        else if (strcmp(line, "run") == 0) run(strtoull(rest, NULL, 10));
        else if (strcmp(line, "last") == 0) last();
        else if (strcmp(line, "make") == 0) {
            if (!make()) stop("failed", "libcrypto.so.3 refused key or message");
            const char *cpu = OPENSSL_info(CPU_SETTINGS);
            say("version", "%s", OpenSSL_version(0));
            say("cpu", "%s", cpu ? cpu : "N/A");
            say("made", "%s", again ? "begun anew" : "once");
        } else stop("failed", "unknown word");
    }
    return 0;
}
