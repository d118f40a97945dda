import type { ErrorGuide } from './guide.ts'

/** Refusals of the content of files. */
export const fileErrors = {
  empty_file: {
    cause: 'The file has no content.',
    mend: 'Send a file that has some.',
    example: {
      detail: 'The file has no bytes.',
      errors: [{ code: 'empty_file', detail: 'The file has no bytes.', attr: 'file', pointer: '#/file' }],
    },
  },
  invalid_image: {
    cause: 'The image is broken, has no pixels, or has more of them than are taken.',
    mend: 'Export the image again, smaller if `detail` says so.',
    example: {
      detail: 'The image has 20000 × 20000 pixels; at most 40000000 are taken.',
      errors: [
        {
          code: 'invalid_image',
          detail: 'The image has 20000 × 20000 pixels; at most 40000000 are taken.',
          attr: 'file',
          pointer: '#/file',
        },
      ],
    },
  },
  type_mismatch: {
    cause: 'The content is of another type than its Content-Type says.',
    mend: 'Send the Content-Type that `detail` names, or application/octet-stream.',
    example: {
      detail: 'The content is image/png, and was declared as image/jpeg.',
      errors: [
        {
          code: 'type_mismatch',
          detail: 'The content is image/png, and was declared as image/jpeg.',
          attr: 'file',
          pointer: '#/file',
        },
      ],
    },
  },
  file_too_large: {
    cause: 'The file has more bytes than files of its type may have.',
    mend: 'Send a smaller file. `detail` says how many bytes are taken.',
    example: {
      detail: 'The file is too large. At most 10000000 bytes.',
      errors: [{ code: 'file_too_large', detail: 'At most 10000000 bytes.', attr: 'file', pointer: '#/file' }],
    },
  },
  unsupported_file_type: {
    cause: 'The content of the file, whatever its name says, is of a type that is not taken.',
    mend: 'Convert the file to one of the types that `detail` lists.',
    example: {
      detail: 'SVG images may hold programs. Taken are PNG, JPEG, WebP, GIF, AVIF, PDF, CSV and XLSX.',
      errors: [
        {
          code: 'unsupported_file_type',
          detail: 'SVG images may hold programs. Taken are PNG, JPEG, WebP, GIF, AVIF, PDF, CSV and XLSX.',
          attr: 'file',
          pointer: '#/file',
        },
      ],
    },
  },
} as const satisfies Record<string, ErrorGuide>
