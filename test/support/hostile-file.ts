import type { Bytes } from './file-bytes.ts'

/** The expected result for a file: a type, with the pixels of an image, or the code and words of the refusal. */
export type Expected =
  | readonly [type: string]
  | readonly [type: string, width: number, height: number]
  | readonly [
      code: 'empty_file' | 'invalid_image' | 'type_mismatch' | 'file_too_large' | 'unsupported_file_type',
      RegExp,
    ]

export interface HostileFile {
  name: string
  content: Bytes
  /** The size of the whole file, when it is longer than `content`. */
  size?: number
  declared?: string
  expected: Expected
}

export const hostileFile = (
  name: string,
  content: Bytes,
  expected: Expected,
  more: Partial<HostileFile> = {},
): HostileFile => ({
  name,
  content,
  expected,
  ...more,
})
