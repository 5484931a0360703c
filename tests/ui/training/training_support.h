// What the tests of training share: a tiny model's configuration and data, and run folders as a
// trainer leaves them.
#pragma once

#include <string>

#include <QString>
#include <QTemporaryDir>

#include "core/train/run_folder.h"
#include "core/train/train_config.h"

namespace cuset::test {

QString tinyModel(); // a folder of tests/data/models
// Six samples of CUDA code; their ids are s0 .. s5.
QString writeSamples(const QTemporaryDir& folder);
// A LoRA run of the tiny model on those, short, one thread.
TrainConfig tinyConfig(const QTemporaryDir& folder, const QString& name);

StepEvent madeUpStep(std::int64_t step, std::int64_t total);
// config.json and events.jsonl with "started" and `steps` of `total` steps, an evaluation at every
// tenth.
QString writeRun(const QTemporaryDir& folder, const QString& name, std::int64_t steps,
                 std::int64_t total);
void appendEvent(const QString& run, const TrainEvent& event);
void appendText(const QString& run, const std::string& text);
void writeLock(const QString& run, const LockHolder& holder);

} // namespace cuset::test
