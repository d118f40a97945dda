import { Parser } from 'htmlparser2'
import { buildDamageError } from '../zip.ts'

export interface XmlHandler {
  /** Names come without their namespace. */
  open?(name: string, attributes: Record<string, string>): void
  text?(text: string): void
  close?(name: string): void
}

const removePrefix = (name: string): string => name.slice(name.indexOf(':') + 1)

/** This much input without an element or a text is refused, so that one endless tag does not fill the memory. */
const maxSilence = 1_048_576

const removeNuls = (text: string): string => text.replaceAll('\0', '')

/** Sheets need 8 levels. The parser moves all open elements for each further one. */
const maxDepth = 64

export function chooseDecoder(first: Uint8Array): TextDecoder {
  if (first[0] === 0xff && first[1] === 0xfe) return new TextDecoder('utf-16le')
  return new TextDecoder(first[0] === 0xfe && first[1] === 0xff ? 'utf-16be' : 'utf-8')
}

/** Yields after each piece, so that the caller can process the events. */
export async function* readXml(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  handler: XmlHandler,
): AsyncGenerator<undefined> {
  let depth = 0
  let isClosed = false
  let silence = 0
  const parser = new Parser(
    {
      onopentag: (tag, attributes) => {
        silence = 0
        depth++
        if (depth > maxDepth) throw buildDamageError(`${name} nests more than ${maxDepth} elements`)
        handler.open?.(removePrefix(tag), attributes)
      },
      ontext: (text) => {
        silence = 0
        handler.text?.(text)
      },
      onclosetag: (tag, isImplied) => {
        silence = 0
        depth--
        if (depth === 0 && !isImplied) isClosed = true
        handler.close?.(removePrefix(tag))
      },
    },
    { xmlMode: true },
  )
  let decoder: TextDecoder | undefined
  for await (const chunk of chunks) {
    decoder ??= chooseDecoder(chunk)
    silence += chunk.length
    parser.write(removeNuls(decoder.decode(chunk, { stream: true })))
    if (silence > maxSilence) throw buildDamageError(`${name} has an endless element`)
    yield undefined
  }
  if (!isClosed) throw buildDamageError(`${name} is cut off`)
}

export async function readWholeXml(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  handler: XmlHandler,
): Promise<void> {
  for await (const _ of readXml(name, chunks, handler));
}

/** XML writes characters that it cannot contain as `_x000D_`. A NUL has no meaning and cannot be stored. */
export const unescapeText = (text: string): string =>
  text.includes('_x')
    ? removeNuls(text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))))
    : text
