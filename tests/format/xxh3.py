"""XXH3-64 with a seed, in plain Python, written from the algorithm's public description.

For reading small structures and checking modest amounts of payload; some MB/s at best.
"""

import struct

MASK = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
SECRET_SIZE_MIN = 136


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def swap64(value):
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def fold(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def avalanche(value):
    value ^= value >> 37
    value = value * 0x165667919E3779F9 & MASK
    return value ^ value >> 32


def avalanche_xxh64(value):
    value ^= value >> 33
    value = value * P64_2 & MASK
    value ^= value >> 29
    value = value * P64_3 & MASK
    return value ^ value >> 32


def up_to_16(data, seed):
    size = len(data)
    if size == 0:
        return avalanche_xxh64(seed ^ u64(SECRET, 56) ^ u64(SECRET, 64))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche_xxh64(combined ^ ((u32(SECRET, 0) ^ u32(SECRET, 4)) + seed & MASK))
    if size <= 8:
        low = seed & 0xFFFFFFFF
        seed ^= int.from_bytes(low.to_bytes(4, "little"), "big") << 32
        flip = (u64(SECRET, 8) ^ u64(SECRET, 16)) - seed & MASK
        value = (u32(data, size - 4) + (u32(data, 0) << 32)) ^ flip
        value ^= (value << 49 | value >> 15) & MASK ^ (value << 24 | value >> 40) & MASK
        value = value * 0x9FB21C651E98DF25 & MASK
        value ^= (value >> 35) + size
        value = value * 0x9FB21C651E98DF25 & MASK
        return value ^ value >> 28
    low = u64(data, 0) ^ ((u64(SECRET, 24) ^ u64(SECRET, 32)) + seed & MASK)
    high = u64(data, size - 8) ^ ((u64(SECRET, 40) ^ u64(SECRET, 48)) - seed & MASK)
    return avalanche(size + swap64(low) + high + fold(low, high) & MASK)


def mix16(data, at, secret_at, seed):
    return fold(
        u64(data, at) ^ (u64(SECRET, secret_at) + seed & MASK),
        u64(data, at + 8) ^ (u64(SECRET, secret_at + 8) - seed & MASK),
    )


def up_to_128(data, seed):
    size = len(data)
    total = size * P64_1
    for pair in range((size - 1) // 32, -1, -1):
        total += mix16(data, 16 * pair, 32 * pair, seed)
        total += mix16(data, size - 16 * (pair + 1), 32 * pair + 16, seed)
    return avalanche(total & MASK)


def up_to_240(data, seed):
    size = len(data)
    total = size * P64_1 + sum(mix16(data, 16 * i, 16 * i, seed) for i in range(8))
    total = avalanche(total & MASK)
    total += sum(mix16(data, 16 * i, 16 * (i - 8) + 3, seed) for i in range(8, size // 16))
    return avalanche(total + mix16(data, size - 16, SECRET_SIZE_MIN - 17, seed) & MASK)


def seeded_secret(seed):
    words = struct.unpack("<24Q", SECRET)
    return struct.pack("<24Q", *((w - seed if i & 1 else w + seed) & MASK for i, w in enumerate(words)))


def accumulate(acc, lanes, keys):
    for i in range(8):
        key = lanes[i] ^ keys[i]
        acc[i ^ 1] = acc[i ^ 1] + lanes[i] & MASK
        acc[i] = acc[i] + (key & 0xFFFFFFFF) * (key >> 32) & MASK


def long(data, seed):
    size = len(data)
    secret = seeded_secret(seed)
    stripe_keys = [struct.unpack_from("<8Q", secret, 8 * i) for i in range(16)]
    scramble_keys = struct.unpack_from("<8Q", secret, 128)
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    stripes = (size - 1) // 64
    for stripe in range(stripes):
        accumulate(acc, struct.unpack_from("<8Q", data, 64 * stripe), stripe_keys[stripe % 16])
        if stripe % 16 == 15:
            for i in range(8):
                acc[i] = ((acc[i] ^ acc[i] >> 47) ^ scramble_keys[i]) * P32_1 & MASK
    accumulate(acc, struct.unpack_from("<8Q", data, size - 64), struct.unpack_from("<8Q", secret, 121))
    total = size * P64_1
    for i in range(4):
        total += fold(acc[2 * i] ^ u64(secret, 11 + 16 * i), acc[2 * i + 1] ^ u64(secret, 19 + 16 * i))
    return avalanche(total & MASK)


def xxh3_64(data, seed=0):
    if len(data) <= 16:
        return up_to_16(data, seed)
    if len(data) <= 128:
        return up_to_128(data, seed)
    if len(data) <= 240:
        return up_to_240(data, seed)
    return long(data, seed)
