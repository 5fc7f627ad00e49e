# Broken variants of the product, which the simulator has to notice. One that it does not notice is a hole in its checks.
#
# stria_add_mutant(NAME SEEDS FILE OLD NEW [option...]): the source file with OLD replaced by NEW, noticed within so many seeds. The
# variant's object takes the place of the original in the library; the product's sources know nothing of it. What is rarely
# noticed begins with seeds shortly before one that is known to show it.
function(stria_add_mutant name seeds file old new)
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  string(FIND "${text}" "${old}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "tests/sim/mutants.cmake: ${name} does not apply to ${file} any more: break it in another way")
  endif()
  string(REPLACE "${old}" "${new}" text "${text}")
  set(mutant ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}.c)
  file(CONFIGURE OUTPUT ${mutant} CONTENT "${text}" @ONLY)
  add_executable(mutant_${name} ${mutant})
  target_link_libraries(mutant_${name} PRIVATE stria_sim)
  target_compile_options(mutant_${name} PRIVATE -Wno-unused -Wno-unused-parameter)
  add_test(NAME sim_mutant_${name} COMMAND mutant_${name} --expect-failure --seeds ${seeds} ${ARGN})
  set_tests_properties(sim_mutant_${name} PROPERTIES TIMEOUT 300 LABELS "sim;mutant")
endfunction()

# Durability.
stria_add_mutant(payload_is_not_flushed 100 core/recorder_cycle.c
  "drive->cycle.phase = CYCLE_FLUSH_DATA;\n        start_flush(recorder, drive_index);"
  "drive->cycle.phase = CYCLE_LEDGER;")
stria_add_mutant(metadata_are_not_flushed 100 core/recorder_cycle.c
  "cycle->phase = CYCLE_DONE;\n            start_flush(recorder, drive_index);"
  "cycle->phase = CYCLE_DONE;")
stria_add_mutant(entry_precedes_payload 100 core/recorder_cycle.c
  "return state == STRIA_EXTENT_USED ||"
  "return state == STRIA_EXTENT_STORED || state == STRIA_EXTENT_USED ||")
stria_add_mutant(failed_flush_is_repeated 300 core/recorder_cycle.c
  "if ((flush && !again) ||"
  "if (")
stria_add_mutant(watermark_skips_a_chunk 100 core/window.c
  "if (sequence != window->first)\n        return false;"
  "if (sequence > window->first + 1)\n        return false;\n    *cell(window, window->first) |= 1;")
stria_add_mutant(checkpoint_runs_ahead 100 core/recorder_cycle.c
  ".watermark_bytes = recorder->window.watermark_bytes,"
  ".watermark_bytes = recorder->length_bytes,")
stria_add_mutant(start_is_told_early 200 core/recorder.c
  "STRIA_RECORDER_BEGINNING && durable &&"
  "STRIA_RECORDER_BEGINNING && live &&")
stria_add_mutant(end_is_told_early 200 core/recorder.c
  "STRIA_RECORDER_ENDING && durable && stria_recorder_cycles_idle(recorder) &&"
  "STRIA_RECORDER_ENDING && live &&")
stria_add_mutant(watermark_without_drives 1000 core/recorder_loss.c
  "if (!stria_recorder_any_live(recorder))\n        return;\n    uint32_t durable"
  "uint32_t durable"
  --from 780)

# Drives that fail.
stria_add_mutant(a_drive_that_always_fails_is_kept 300 core/recorder_data.c
  "gone || drive->errors_in_row >= recorder->config.errors_max"
  "gone"
  --modelled)

# Losses and gaps.
stria_add_mutant(lost_chunks_are_not_named 300 core/recorder_loss.c
  "    if (!recorder->lost_open)\n        return;\n    recorder->lost_open = false;"
  "    recorder->lost_open = false;\n    return;")
stria_add_mutant(watermark_passes_unnamed_losses 300 core/recorder_loss.c
  "if (!recorder->unnamed_ever)"
  "if (recorder)"
  --short-catalogue --modelled)
stria_add_mutant(unnamed_losses_are_told_in_part 300 core/recorder_loss.c
  "recorder->unnamed_next = sequence;\n        stria_recorder_emit"
  "recorder->unnamed_count = 0;\n        stria_recorder_emit"
  --short-catalogue --modelled)
stria_add_mutant(dead_drive_keeps_its_chunks 300 core/recorder_loss.c
  "    lose_uncommitted(recorder, drive_index, STRIA_EXTENT_STORED);"
  "")
stria_add_mutant(gaps_are_not_told 100 core/recorder_data.c
  "stria_recorder_emit(recorder, STRIA_ACTION_GAP)->gap = recorder->gap;"
  "")
stria_add_mutant(gap_has_no_cause 300 core/recorder_data.c
  "slot->gap_cause = recorder->seal_gap_cause;"
  "slot->gap_cause = 0;")

# Writes.
stria_add_mutant(short_write_is_taken_as_done 300 core/recorder_data.c
  "if (event->code == STRIA_OK && event->bytes == wanted)"
  "if (event->code == STRIA_OK)")
stria_add_mutant(short_write_goes_on_unaligned 300 core/recorder_data.c
  "(uint32_t)bytes & ~(recorder->config.block_bytes - 1)"
  "(uint32_t)bytes")
stria_add_mutant(short_write_starts_over_elsewhere 300 core/recorder_data.c
  "    slot->written_bytes = 0;\n    slot->shorts = 0;"
  "    slot->shorts = 0;"
  --from 260)
stria_add_mutant(slot_is_freed_too_soon 300 core/recorder_data.c
  "    drive->retries++;\n    slot->written_bytes += progress;"
  "    drive->retries++;\n    stria_recorder_emit(recorder, STRIA_ACTION_RELEASE)->slot = index;\n    slot->written_bytes += progress;")
stria_add_mutant(tail_forgets_its_length 100 core/recorder_data.c
  ".length_bytes = slot->length_bytes,\n        .captured_ns"
  ".length_bytes = recorder->config.chunk_bytes,\n        .captured_ns")
stria_add_mutant(used_extents_count_as_free 300 core/space.c
  "if (state[position] == STRIA_EXTENT_COMMITTED)\n            state[position] = STRIA_EXTENT_USED;"
  "if (state[position] == STRIA_EXTENT_COMMITTED || state[position] == STRIA_EXTENT_USED)\n            state[position] = STRIA_EXTENT_FREE;")
stria_add_mutant(hash_is_not_seeded 300 core/digest.c
  "return XXH3_64bits_withSeed(data, bytes, seed);"
  "return XXH3_64bits(data, bytes + 0 * seed);")
stria_add_mutant(hash_forgets_the_sequence 100 core/digest.c
  "stria_store_u64(bytes + 8, sequence);"
  "stria_store_u64(bytes + 8, 0);")
stria_add_mutant(pump_forgets_its_hash 300 engine/pump.c
  "event.digest = here ? pump->writes[slot].digest : done->digest;"
  "event.digest = done->digest;")

# Progress.
stria_add_mutant(hung_drive_is_waited_for 1000 core/recorder_loss.c
  "if (stria_watch_over(&recorder->watch, oldest_ns))"
  "if (recorder->now_ns - oldest_ns >= UINT64_MAX)")
stria_add_mutant(a_drive_stands_idle 100 core/recorder_data.c
  "drive->writing.count < drive->config.depth &&"
  "drive->writing.count < (drive->config.depth + 1) / 2 &&")
stria_add_mutant(next_cycle_is_not_begun 1000 core/recorder_cycle.c
  "            finish_cycle(recorder, drive);\n            break;"
  "            finish_cycle(recorder, drive);\n            return;")

# What is found when an array is opened.
stria_add_mutant(recovery_ignores_checkpoints 6000 core/inventory_recover.c
  "if (!drive->present || !drive->checkpoint_valid ||"
  "if (drive->present || !drive->checkpoint_valid ||"
  --from 1060)
stria_add_mutant(recovery_ends_with_an_absent_drive 300 core/inventory_recover.c
  "if (!stria_inventory_drive_absent(input))"
  "if (input)")
stria_add_mutant(crashed_recordings_are_free 300 core/inventory.c
  "!entry_of(inventory, entry.recording))"
  "!entry_of(inventory, entry.recording) || entry.sequence % 8 == 7)")
stria_add_mutant(ends_are_given_with_a_drive_away 300 core/inventory_close.c
  "return !stria_inventory_drive_absent(input);"
  "return input != 0;")
stria_add_mutant(checkpoints_are_not_kept_with_a_drive_away 4000 core/inventory_close.c
  "return stria_inventory_reached(recording, input).watermark_bytes >"
  "return stria_inventory_reached(recording, input).watermark_bytes <"
  --short-catalogue --with apart --modelled --from 370)

# Parts of an array that were used without each other, and meet again.
stria_add_mutant(below_the_next_id_is_removed 300 core/catalogue_merge.c
  "if (!stria_catalogue_cell_whole(other, index, &entry))"
  "if (!stria_catalogue_cell_whole(other, index, &entry) || entry.recording < log->next_recording)"
  --with apart --modelled)
stria_add_mutant(what_does_not_fit_is_dropped 300 core/catalogue_merge.c
  "        return STRIA_ERR_FULL;\n    all.head"
  "        merged->count = replicas[chosen].entries_max;\n    all.head"
  --with apart --modelled)
stria_add_mutant(the_oldest_log_counts 300 core/catalogue_merge.c
  "replicas[i].epoch > replicas[found].epoch"
  "replicas[i].epoch < replicas[found].epoch"
  --with apart --modelled)
stria_add_mutant(the_first_log_counts_alone 300 core/catalogue_merge.c
  "            return false;\n        memcpy(place"
  "            continue;\n        memcpy(place"
  --with apart --modelled)
stria_add_mutant(older_logs_are_not_asked 300 core/catalogue_merge.c
  "|| !covers(merged, &replicas[i])"
  "|| (merged->count == 0 && !covers(merged, &replicas[i]))"
  --with apart --modelled)
stria_add_mutant(a_log_is_written_over_another 40 core/catalogue_merge.c
  "        return STRIA_RENEWAL_BY_OTHER_HALF;"
  "        return STRIA_RENEWAL_IN_PLACE;"
  --with apart --modelled --exhaustive --chunks 3 --drives 2 --from 27)
stria_add_mutant(removals_are_forgotten_with_a_drive_away 300 core/catalogue_compact.c
  ".drive_absent = how->drive_absent,"
  ".drive_absent = false,"
  --with apart --modelled)
stria_add_mutant(removals_are_forgotten_before_all_know 20 core/catalogue_unite.c
  "needed || (living & ~removed) != 0"
  "needed"
  --with apart --modelled --exhaustive --chunks 3 --drives 2 --from 12)
stria_add_mutant(what_only_others_say_is_dropped 1500 core/catalogue_unite.c
  "if (i == 0 || before(&mentions[i - 1], &mentions[i]))"
  "if (i == 0 || mentions[i - 1].kind != mentions[i].kind || mentions[i].source == 0)"
  --with apart --modelled --from 355)
stria_add_mutant(a_source_is_left_out 300 core/catalogue_unite.c
  "for (uint32_t i = 0; i < of->source_count; i++) {\n        const struct stria_catalogue *source"
  "for (uint32_t i = of->source_count > 1; i < of->source_count; i++) {\n        const struct stria_catalogue *source"
  --with apart --modelled)
stria_add_mutant(removals_are_forgotten_when_parts_meet 300 core/catalogue_merge.c
  ".drive_absent = meeting->drive_absent,"
  ".drive_absent = false,"
  --with apart --modelled)
stria_add_mutant(the_highest_id_is_forgotten 2000 core/catalogue_unite.c
  "const bool highest = end == count &&"
  "const bool highest = end > count &&"
  --with apart --modelled)

# Watched time.
stria_add_mutant(unwatched_time_counts 300 core/watch.c
  "watch->watched_ns += passed_ns < most_ns ? passed_ns : most_ns;"
  "watch->watched_ns += passed_ns < UINT64_MAX / most_ns ? passed_ns : most_ns;"
  --with stop --modelled)
stria_add_mutant(looks_are_taken_for_time 300 core/watch.c
  "watch->watched_ns += passed_ns < most_ns ? passed_ns : most_ns;"
  "watch->watched_ns += most_ns;"
  --with stop --modelled)
stria_add_mutant(nobody_looks_in_between 300 core/watch.c
  "return watch->now_ns + (left_ns < most_ns ? left_ns : most_ns);"
  "return watch->now_ns + left_ns;"
  --with stop --modelled)
