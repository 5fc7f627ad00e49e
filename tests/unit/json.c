#include "support/json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(struct json_object *object)
{
    return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
}

Test(json, integers_keep_all_64_bits)
{
    struct json_object *object = json_object_new_object();
    stria_json_add_u64(object, "bytes", UINT64_MAX);
    cr_assert_str_eq(text_of(object), "{\"bytes\":18446744073709551615}");
    json_object_put(object);
}

Test(json, a_figure_that_does_not_exist_is_null_and_its_key_stays)
{
    struct json_object *object = json_object_new_object();
    stria_json_add_figure(object, "60s", false, 5);
    stria_json_add_figure(object, "1s", true, 5);
    stria_json_add_real(object, "nan", NAN);
    stria_json_add_real(object, "inf", INFINITY);
    stria_json_add_text(object, "serial", NULL);
    cr_assert_str_eq(text_of(object), "{\"60s\":null,\"1s\":5,\"nan\":null,\"inf\":null,\"serial\":null}");
    json_object_put(object);
}

Test(json, text_is_valid_utf8_whatever_came_in)
{
    struct json_object *object = json_object_new_object();
    stria_json_add_text(object, "good", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    stria_json_add_text(object, "lone",
                        "a\xff"
                        "b\x80");
    stria_json_add_text(object, "cut", "a\xe2\x82");
    stria_json_add_text(object, "overlong", "\xc0\xaf");
    stria_json_add_text(object, "surrogate", "\xed\xa0\x80");
    cr_assert_str_eq(text_of(object),
                     "{\"good\":\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\",\"lone\":\"a\xef\xbf\xbd"
                     "b\xef\xbf\xbd\","
                     "\"cut\":\"a\xef\xbf\xbd\xef\xbf\xbd\",\"overlong\":\"\xef\xbf\xbd\xef\xbf\xbd\","
                     "\"surrogate\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}");
    json_object_put(object);
}

Test(json, a_uuid_has_the_usual_form)
{
    struct json_object *object = json_object_new_object();
    const uint8_t uuid[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 254, 255};
    stria_json_add_uuid(object, "uuid", uuid);
    cr_assert_str_eq(text_of(object), "{\"uuid\":\"00010203-0405-0607-0809-0a0b0c0dfeff\"}");
    json_object_put(object);
}

Test(json, children_belong_to_their_parent)
{
    struct json_object *object = json_object_new_object();
    struct json_object *list = stria_json_add_array(stria_json_add_object(object, "a"), "b");
    stria_json_append_u64(list, 1);
    stria_json_append_u64(stria_json_append_array(list), 2);
    stria_json_add_bool(stria_json_append_object(list), "yes", true);
    cr_assert_str_eq(text_of(object), "{\"a\":{\"b\":[1,[2],{\"yes\":true}]}}");
    json_object_put(object);
}
