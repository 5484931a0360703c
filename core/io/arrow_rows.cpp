// The module that reads Parquet and Arrow with Apache Arrow's C++ libraries (the pyarrow wheel's).
// It speaks to the program through columnar_module.h alone.
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/util/float16.h>
#include <parquet/arrow/reader.h>

#include "core/io/columnar_module.h"
#include "core/io/utf8_repair.h"

namespace cuset {
namespace {

using nlohmann::json;

constexpr int max_nesting = 64;
constexpr std::int64_t batch_rows = 256;

void check(const arrow::Status& status) {
    if (!status.ok())
        throw std::runtime_error(status.message());
}

template <typename T> T take(arrow::Result<T> result) {
    check(result.status());
    return std::move(result).ValueUnsafe();
}

// One row's conversion: counts what it takes, notes repaired text.
class RowConverter {
public:
    explicit RowConverter(std::size_t max_bytes)
        : max_bytes_(max_bytes) { }

    ColumnarRow convert(const arrow::RecordBatch& batch, std::int64_t row) {
        bytes_ = 0;
        ColumnarRow out;
        out.record = json::object();
        for (int c = 0; c < batch.num_columns() && bytes_ <= max_bytes_; ++c)
            out.record[text(batch.column_name(c))] = value(*batch.column(c), row, 0);
        out.too_long = bytes_ > max_bytes_;
        out.repaired = std::exchange(repaired_, false);
        if (out.too_long)
            out.record = json::object();
        return out;
    }

private:
    json text(std::string_view bytes) {
        bytes_ += bytes.size();
        if (bytes_ > max_bytes_)
            return "";
        std::string copy(bytes);
        repaired_ = repair_utf8(copy) || repaired_;
        return copy;
    }

    template <typename Array>
    json elements(const arrow::Array& array, std::int64_t row, int depth) {
        const auto& list = static_cast<const Array&>(array);
        const std::int64_t begin = list.value_offset(row);
        const std::int64_t count = list.value_length(row);
        json out = json::array();
        for (std::int64_t i = begin; i < begin + count && bytes_ <= max_bytes_; ++i)
            out.push_back(value(*list.values(), i, depth + 1));
        return out;
    }

    json fields(const arrow::StructArray& array, std::int64_t row, int depth) {
        json out = json::object();
        for (int f = 0; f < array.num_fields() && bytes_ <= max_bytes_; ++f)
            out[text(array.struct_type()->field(f)->name())] =
                value(*array.field(f), row, depth + 1);
        return out;
    }

    // A map with text keys is an object, any other a list of [key, value].
    json entries(const arrow::MapArray& map, std::int64_t row, int depth) {
        const arrow::Type::type key = map.keys()->type_id();
        const bool named = key == arrow::Type::STRING || key == arrow::Type::LARGE_STRING;
        json out = named ? json::object() : json::array();
        const std::int64_t begin = map.value_offset(row);
        for (std::int64_t i = begin; i < begin + map.value_length(row) && bytes_ <= max_bytes_;
             ++i) {
            const json name = value(*map.keys(), i, depth + 1);
            json item = value(*map.items(), i, depth + 1);
            if (named)
                out[name.get<std::string>()] = std::move(item);
            else
                out.push_back(json::array({name, std::move(item)}));
        }
        return out;
    }

    json value(const arrow::Array& array, std::int64_t row, int depth) {
        if (array.IsNull(row))
            return nullptr;
        if (depth > max_nesting)
            throw std::runtime_error("nests more than " + std::to_string(max_nesting) + " levels");
        bytes_ += 8;
        switch (array.type_id()) {
        case arrow::Type::NA:
            return nullptr;
        case arrow::Type::BOOL:
            return static_cast<const arrow::BooleanArray&>(array).Value(row);
        case arrow::Type::INT8:
            return static_cast<const arrow::Int8Array&>(array).Value(row);
        case arrow::Type::UINT8:
            return static_cast<const arrow::UInt8Array&>(array).Value(row);
        case arrow::Type::INT16:
            return static_cast<const arrow::Int16Array&>(array).Value(row);
        case arrow::Type::UINT16:
            return static_cast<const arrow::UInt16Array&>(array).Value(row);
        case arrow::Type::INT32:
            return static_cast<const arrow::Int32Array&>(array).Value(row);
        case arrow::Type::UINT32:
            return static_cast<const arrow::UInt32Array&>(array).Value(row);
        case arrow::Type::INT64:
            return static_cast<const arrow::Int64Array&>(array).Value(row);
        case arrow::Type::UINT64:
            return static_cast<const arrow::UInt64Array&>(array).Value(row);
        case arrow::Type::HALF_FLOAT:
            return arrow::util::Float16::FromBits(
                       static_cast<const arrow::HalfFloatArray&>(array).Value(row))
                .ToFloat();
        case arrow::Type::FLOAT:
            return static_cast<const arrow::FloatArray&>(array).Value(row);
        case arrow::Type::DOUBLE:
            return static_cast<const arrow::DoubleArray&>(array).Value(row);
        case arrow::Type::STRING:
        case arrow::Type::BINARY:
            return text(static_cast<const arrow::BinaryArray&>(array).GetView(row));
        case arrow::Type::LARGE_STRING:
        case arrow::Type::LARGE_BINARY:
            return text(static_cast<const arrow::LargeBinaryArray&>(array).GetView(row));
        case arrow::Type::STRING_VIEW:
        case arrow::Type::BINARY_VIEW:
            return text(static_cast<const arrow::BinaryViewArray&>(array).GetView(row));
        case arrow::Type::LIST:
            return elements<arrow::ListArray>(array, row, depth);
        case arrow::Type::LARGE_LIST:
            return elements<arrow::LargeListArray>(array, row, depth);
        case arrow::Type::FIXED_SIZE_LIST:
            return elements<arrow::FixedSizeListArray>(array, row, depth);
        case arrow::Type::STRUCT:
            return fields(static_cast<const arrow::StructArray&>(array), row, depth);
        case arrow::Type::MAP:
            return entries(static_cast<const arrow::MapArray&>(array), row, depth);
        case arrow::Type::DICTIONARY: {
            const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
            return value(*dictionary.dictionary(), dictionary.GetValueIndex(row), depth + 1);
        }
        case arrow::Type::EXTENSION:
            return value(*static_cast<const arrow::ExtensionArray&>(array).storage(), row,
                         depth + 1);
        default: // dates, times, decimals, durations: as Arrow writes them
            return text(take(array.GetScalar(row))->ToString());
        }
    }

    std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    bool repaired_ = false;
};

// Rows of the batches that a source hands out one by one.
class BatchRows : public ColumnarRows {
public:
    explicit BatchRows(std::size_t max_bytes)
        : converter_(max_bytes) { }

    std::optional<ColumnarRow> next() override {
        while (batch_ == nullptr || row_ == batch_->num_rows()) {
            batch_ = next_batch();
            row_ = 0;
            if (batch_ == nullptr)
                return std::nullopt;
            check(batch_->ValidateFull());
        }
        return converter_.convert(*batch_, row_++);
    }

protected:
    virtual std::shared_ptr<arrow::RecordBatch> next_batch() = 0; // null at the end

private:
    RowConverter converter_;
    std::shared_ptr<arrow::RecordBatch> batch_;
    std::int64_t row_ = 0;
};

class ParquetRows : public BatchRows {
public:
    ParquetRows(std::shared_ptr<arrow::io::RandomAccessFile> file, std::size_t max_bytes)
        : BatchRows(max_bytes) {
        parquet::arrow::FileReaderBuilder builder;
        check(builder.Open(std::move(file)));
        parquet::ArrowReaderProperties properties;
        properties.set_batch_size(batch_rows);
        properties.set_use_threads(false);
        builder.properties(properties);
        file_ = take(builder.Build());
        batches_ = take(file_->GetRecordBatchReader());
    }

    std::int64_t row_count() const override {
        return file_->parquet_reader()->metadata()->num_rows();
    }

private:
    std::shared_ptr<arrow::RecordBatch> next_batch() override { return take(batches_->Next()); }

    std::unique_ptr<parquet::arrow::FileReader> file_;
    std::unique_ptr<arrow::RecordBatchReader> batches_;
};

class ArrowFileRows : public BatchRows {
public:
    ArrowFileRows(const std::shared_ptr<arrow::io::RandomAccessFile>& file, std::size_t max_bytes)
        : BatchRows(max_bytes)
        , reader_(take(arrow::ipc::RecordBatchFileReader::Open(file)))
        , rows_(take(reader_->CountRows())) { }

    std::int64_t row_count() const override { return rows_; }

private:
    std::shared_ptr<arrow::RecordBatch> next_batch() override {
        if (index_ == reader_->num_record_batches())
            return nullptr;
        return take(reader_->ReadRecordBatch(index_++));
    }

    std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader_;
    std::int64_t rows_ = 0;
    int index_ = 0;
};

class ArrowStreamRows : public BatchRows {
public:
    ArrowStreamRows(const std::shared_ptr<arrow::io::InputStream>& stream, std::size_t max_bytes)
        : BatchRows(max_bytes)
        , reader_(take(arrow::ipc::RecordBatchStreamReader::Open(stream))) { }

    std::int64_t row_count() const override { return 0; }

private:
    std::shared_ptr<arrow::RecordBatch> next_batch() override { return take(reader_->Next()); }

    std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader_;
};

} // namespace
} // namespace cuset

extern "C" __attribute__((visibility("default"))) cuset::ColumnarRows*
cuset_open_columnar(const char* path, cuset::ColumnarFormat format, std::size_t max_bytes) {
    using namespace cuset;
    auto file = take(arrow::io::ReadableFile::Open(path));
    switch (format) {
    case ColumnarFormat::parquet:
        return new ParquetRows(file, max_bytes);
    case ColumnarFormat::arrow_file:
        return new ArrowFileRows(file, max_bytes);
    case ColumnarFormat::arrow_stream:
        return new ArrowStreamRows(file, max_bytes);
    }
    throw std::runtime_error("is of no known columnar format");
}
