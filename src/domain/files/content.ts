import { AppError } from '../errors.ts'

interface Content {
  mime_type: string
  width: number | null
  height: number | null
}

const startsWith = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte)

/** The type of a file by its first bytes. */
export function judgeContent(head: Uint8Array, size: number, declared?: string | null): Content {
  if (size === 0) throw new AppError('empty_file', 'The file is empty.')
  const mime_type = typeOf(head)
  if (declared && declared !== mime_type)
    throw new AppError('type_mismatch', `The content is ${mime_type}, and not ${declared}.`)
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const isPng = mime_type === 'image/png'
  if (isPng && head.length < 24) throw new AppError('invalid_image', 'The image has no header.')
  return {
    mime_type,
    width: isPng ? view.getUint32(16) : null,
    height: isPng ? view.getUint32(20) : null,
  }
}

function typeOf(head: Uint8Array): string {
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47])) return 'image/png'
  if (startsWith(head, [0x25, 0x50, 0x44, 0x46])) return 'application/pdf'
  const text = new TextDecoder().decode(head.subarray(0, 1024))
  if (/^[\w "']+[,;\t]/.test(text)) return 'text/csv'
  throw new AppError('unsupported_file_type', 'Files are PNG images, PDF or CSV.')
}
