# Drivers that are wrong in the ways in which drivers go wrong, each with the test that has to notice it.
#
# stria_add_nvme_mutant(NAME TEST CASE FILE OLD NEW): the driver with OLD replaced by NEW in FILE, for which CASE of the
# test program TEST has to fail. A changed header changes the whole driver and the test; the product's sources know
# nothing of it.
function(stria_add_nvme_mutant name test case file old new)
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  string(FIND "${text}" "${old}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "tests/nvme/mutants.cmake: ${name} does not apply to ${file} any more: break it in another way")
  endif()
  string(REPLACE "${old}" "${new}" text "${text}")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name})
  file(CONFIGURE OUTPUT ${folder}/${file} CONTENT "${text}" @ONLY)
  set(target nvme_mutant_${name})
  add_executable(${target} ${test}.c)
  if(file MATCHES "\\.c$")
    target_sources(${target} PRIVATE ${folder}/${file})
  else()
    get_target_property(sources stria_nvme SOURCES)
    list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/nvme/)
    target_sources(${target} PRIVATE ${sources})
    target_include_directories(${target} BEFORE PRIVATE ${folder})
  endif()
  target_compile_options(${target} PRIVATE -Wno-unused -Wno-unused-parameter)
  target_link_libraries(${target} PRIVATE stria_nvme_model)
  add_test(NAME ${target} COMMAND ${target} --filter nvme_${test}/${case} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${target} PROPERTIES
    TIMEOUT 300
    LABELS mutant
    PASS_REGULAR_EXPRESSION "FAIL. nvme_${test}::${case}")
endfunction()

# PRP lists.
stria_add_nvme_mutant(full_list_is_chained_on drive a_list_page_that_is_full_to_the_last_entry nvme/prp.c
  "    if (code == STRIA_OK && run_bytes < *listed * sizeof(*list))"
  "    if (*listed == page_bytes / sizeof(*list))\n        list[*listed - 1] = command->prp2 + page_bytes;\n    if (code == STRIA_OK && run_bytes < *listed * sizeof(*list))")
stria_add_nvme_mutant(list_address_is_scaled_twice drive what_was_written_is_read_back nvme/controller_start.c
  "controller->slots[i].list = take_pages(controller, &used, 1);"
  "controller->slots[i].list = take_pages(controller, &used, 1);\n        controller->slots[i].list += i * controller->page_bytes;")
stria_add_nvme_mutant(list_of_one_entry drive what_was_written_is_read_back nvme/prp.c
  "    if (*listed == 1) {" "    if (*listed == 0) {")
stria_add_nvme_mutant(pages_run_on_over_seams drive pages_scattered_over_the_bus nvme/prp.c
  "    if (walk->run_bytes == 0) {" "    if (walk->address == 0) {\n        walk->run_bytes = UINT64_MAX;")

# Registers.
stria_add_nvme_mutant(timeouts_are_ten_times_too_short recover a_slow_start_is_waited_for_as_long_as_cap_to_says nvme/controller_setup.c
  "uint64_t ready_ns = stria_nvme_cap_ready_ns(controller->cap);"
  "uint64_t ready_ns = stria_nvme_cap_ready_ns(controller->cap) / 10;")
stria_add_nvme_mutant(registers_are_read_by_bytes mmio a_read_is_one_access_of_32_bits nvme/mmio.h
  "return *(const volatile uint32_t *)((const volatile char *)base + offset);"
  "const volatile unsigned char *at = (const volatile unsigned char *)base + offset;\n    return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;")
stria_add_nvme_mutant(registers_are_read_as_64_bits mmio a_read_is_one_access_of_32_bits nvme/mmio.h
  "return *(const volatile uint32_t *)((const volatile char *)base + offset);"
  "return (uint32_t)(*(const volatile uint64_t *)((const volatile char *)base + offset));")
stria_add_nvme_mutant(registers_are_not_volatile mmio a_read_whose_value_is_not_used_is_made nvme/mmio.h
  "return *(const volatile uint32_t *)((const volatile char *)base + offset);"
  "return *(const uint32_t *)((const char *)base + offset);")
set_source_files_properties(mmio.c PROPERTIES COMPILE_OPTIONS -O2)
stria_add_nvme_mutant(all_ones_are_a_status recover one_that_is_gone_is_noticed_soon nvme/registers.h
  "STRIA_NVME_ALL_ONES 0xffffffffu" "STRIA_NVME_ALL_ONES 0x5a5a5a5au")
stria_add_nvme_mutant(fatal_status_is_not_looked_at recover a_fatal_controller_is_reset_and_goes_on nvme/controller_recover.c
  "else if (status & STRIA_NVME_CSTS_CFS)" "else if (status == STRIA_NVME_CSTS_CFS)")
stria_add_nvme_mutant(doorbells_lie_close drive doorbells_far_apart nvme/registers.h
  "return 4u << (cap >> 32 & 0xf);" "return 4u;")
stria_add_nvme_mutant(mdts_counts_4096_bytes drive mdts_counts_pages_of_the_controller nvme/controller_setup.c
  "(uint64_t)identity->transfer_pages_max * controller->page_bytes" "(uint64_t)identity->transfer_pages_max * 4096")
stria_add_nvme_mutant(mdts_is_forgotten drive mdts_counts_pages_of_the_controller nvme/controller_setup.c
  "if (identity->transfer_pages_max)" "if (identity->transfer_pages_max > 1u << 20)")

# Queues.
stria_add_nvme_mutant(queue_is_filled_to_the_last queue one_entry_is_left_free nvme/queue.c
  "return (queue->sq_head + queue->entries - queue->sq_tail - 1) % queue->entries;"
  "return queue->entries - (queue->sq_tail + queue->entries - queue->sq_head) % queue->entries;")
stria_add_nvme_mutant(fetched_is_what_completed queue there_is_room_for_what_the_controller_says_it_has_fetched nvme/queue.c
  "queue->sq_head = head;" "queue->sq_head = (queue->sq_head + 1) % queue->entries;")
stria_add_nvme_mutant(phase_never_turns queue the_phase_turns_with_every_round nvme/queue.c
  "queue->phase ^= STRIA_NVME_PHASE;" "")
stria_add_nvme_mutant(old_completions_are_left_behind drive a_drive_left_running_by_a_crash_is_taken_over nvme/queue.c
  "    memset(queue->completions, 0, queue->entries * sizeof(*queue->completions));" "")

# Order.
stria_add_nvme_mutant(no_barrier_behind_the_phase drive every_kind_of_memory nvme/queue.c
  "    platform->read_barrier(platform->context);" "")
stria_add_nvme_mutant(no_barrier_before_the_doorbell drive every_kind_of_memory nvme/queue.c
  "    queue->platform->write_barrier(queue->platform->context);\n    stria_nvme_write32(queue->platform, queue->sq_doorbell"
  "    stria_nvme_write32(queue->platform, queue->sq_doorbell")

# Caches.
stria_add_nvme_mutant(command_is_not_cleaned drive what_was_written_is_read_back nvme/queue.c
  "    clean(queue->platform, entry, sizeof(*entry));" "")
stria_add_nvme_mutant(list_is_not_cleaned drive what_was_written_is_read_back nvme/controller.c
  "    clean_page(controller, slot, listed * sizeof(*slot->list));" "")
stria_add_nvme_mutant(range_is_not_cleaned drive a_trim_gives_up_its_range_and_no_more nvme/controller.c
  "    clean_page(controller, slot, sizeof(range));" "")
stria_add_nvme_mutant(data_are_not_cleaned drive what_was_written_is_read_back nvme/controller.c
  "        platform->cache_clean(platform->context, slot->data, slot->bytes);" "        (void)0;")
stria_add_nvme_mutant(completion_is_not_invalidated drive what_was_written_is_read_back nvme/queue.c
  "        platform->cache_invalidate(platform->context, entry, sizeof(*entry));" "        (void)0;")
stria_add_nvme_mutant(read_is_not_invalidated_before drive what_was_written_is_read_back nvme/controller.c
  "    if (platform->cache_clean && slot->reads)\n        platform->cache_invalidate(platform->context, slot->data, slot->bytes);\n    else if (platform->cache_clean)"
  "    if (platform->cache_clean && !slot->reads)")
stria_add_nvme_mutant(read_is_not_invalidated_after drive what_was_written_is_read_back nvme/controller.c
  "    if (slot->reads && platform->cache_invalidate)" "    if (slot->reads && !platform->cache_clean && platform->cache_invalidate)")
stria_add_nvme_mutant(identity_is_not_invalidated drive it_tells_who_it_is nvme/controller_setup.c
  "    if (controller->platform->cache_invalidate)" "    if (!controller->platform->cache_clean)")

# Durability and recovery.
stria_add_nvme_mutant(flush_does_nothing drive what_is_flushed_survives_a_power_cut nvme/drive.c
  "return request->op == STRIA_NVME_TRIM && !drive->controller.identity.deallocates;"
  "return request->op == STRIA_NVME_FLUSH;")
stria_add_nvme_mutant(durable_write_is_like_any drive a_durable_write_needs_no_flush nvme/command.c
  "        command.dword12 |= FORCE_UNIT_ACCESS;" "        (void)0;")
stria_add_nvme_mutant(reset_forgets_what_was_in_flight recover a_fatal_controller_is_reset_and_goes_on nvme/controller_recover.c
  "        slot->state = STRIA_NVME_SLOT_WAITING;\n        controller->waiting_count++;" "        slot->state = STRIA_NVME_SLOT_FREE;")
stria_add_nvme_mutant(old_completions_count fuzz drives_that_misbehave nvme/controller.c
  "slot->turn != ID_TURN(completion->id_and_status)" "false")
stria_add_nvme_mutant(nothing_is_ever_overdue recover a_command_that_hangs_is_aborted_and_issued_again nvme/controller_recover.c
  "now_ns - slot->issued_ns < limit_ns" "now_ns - slot->issued_ns < UINT64_MAX")
