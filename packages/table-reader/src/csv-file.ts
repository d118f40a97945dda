import { detectDialect } from './dialect.ts'
import { detectEncoding } from './encoding/detect.ts'
import { createDecoder, getUnitSize, readByteOrderMark, showUndecodable, type Encoding } from './encoding/names.ts'
import { TableError } from './faults.ts'
import type { CsvFormat, FormatOptions } from './format.ts'
import { findHeader } from './header.ts'
import { readLineBlocks, findLineStarts, type LineBlock, type LinePosition } from './lines.ts'
import { RecordReader, type SourceRecord } from './records.ts'
import { readBytes, type FileSource } from './source.ts'

/** Dialect and header are detected in a sample of this size. */
const sampleLength = 524_288
const dialectSampleLines = 200

interface FileSample {
  block: LineBlock
  encoding: Encoding
  encodingConfidence: number
  doubtfulTexts: readonly string[]
  markLength: number
}

async function readSample(file: FileSource, { encoding, likelyEncodings }: FormatOptions): Promise<FileSample> {
  const detection = await detectEncoding(file, likelyEncodings)
  const head = await readBytes(file, 0, sampleLength)
  const actualEncoding = encoding ?? detection.encoding
  const mark = readByteOrderMark(head)
  // Programs also put the mark of UTF-8 before text of another encoding.
  const isMarked =
    mark && (mark.encoding === actualEncoding || (mark.encoding === 'utf-8' && getUnitSize(actualEncoding) === 1))
  const markLength = isMarked ? mark.length : 0
  const isLast = head.length === file.size
  const body = head.subarray(markLength)
  const wholeLines = findLineStarts(body, isLast, actualEncoding)
  const { starts, end } = wholeLines.starts.length > 0 ? wholeLines : findLineStarts(body, true, actualEncoding)
  return {
    block: { bytes: body.subarray(0, end), starts, offset: markLength, line: 1, isLast },
    encoding: actualEncoding,
    encodingConfidence: encoding === undefined || encoding === detection.encoding ? detection.confidence : 1,
    doubtfulTexts: encoding === undefined ? (detection.doubtfulTexts ?? []) : [],
    markLength,
  }
}

/** Reads a record that does not end in the sample as if the file ended there. */
function readSampleRecords(block: LineBlock, format: ConstructorParameters<typeof RecordReader>[0]): SourceRecord[] {
  const records = new RecordReader(format).read(block)
  return records.length > 0 ? records : new RecordReader(format).read({ ...block, isLast: true })
}

export async function inspectCsv(file: FileSource, options: FormatOptions): Promise<CsvFormat> {
  const { block, encoding, encodingConfidence, doubtfulTexts, markLength } = await readSample(file, options)
  const text = createDecoder(encoding).decode(block.bytes.subarray(0, block.starts[dialectSampleLines]))
  if (text.trim() === '' && block.isLast) throw new TableError('empty_file', 'The file has no rows.')
  if (text.includes('\0'))
    throw new TableError('wrong_encoding', `The file is not text in ${encoding}: it contains NUL characters.`)
  const { confidence, ...dialect } = detectDialect(text, options)
  const all = readSampleRecords(block, { ...dialect, encoding, width: null })
  const records = dialect.hasSeparatorLine ? all.slice(1) : all
  const { names, index } = findHeader(records, options.hasHeader ?? null)
  const header = records[index]
  const first = records[0]
  const body: LinePosition = header
    ? { offset: header.offset + header.length, line: header.line + header.lineCount }
    : { offset: first?.offset ?? markLength, line: first?.line ?? 1 }
  return {
    kind: 'csv',
    names: names.map(showUndecodable),
    header: header ? { line: header.line, offset: header.offset, length: header.length } : null,
    encoding,
    encodingConfidence,
    ...(doubtfulTexts.length > 0 ? { doubtfulTexts } : {}),
    ...dialect,
    delimiterConfidence: confidence,
    markLength,
    body,
  }
}

export async function* readCsvRecords(
  file: FileSource,
  format: CsvFormat,
  from: LinePosition,
): AsyncGenerator<SourceRecord[]> {
  const reader = new RecordReader({ ...format, width: format.names.length })
  for await (const block of readLineBlocks(file.stream(from.offset, file.size - from.offset), format.encoding, from))
    yield reader.read(block)
}
