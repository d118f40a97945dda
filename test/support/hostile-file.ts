import type { Bytes } from './made-files.ts'

/** What is to come of a file: a type, with its pixels for images, or the code of the refusal and words of its detail. */
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
  /** Of the whole file, where it is longer than `content`. */
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
