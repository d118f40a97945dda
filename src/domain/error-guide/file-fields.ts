import type { FieldGuide } from './guide.ts'

/** Rules of the content of files. */
export const fileFields = {
  empty_file: {
    cause: 'The file has no content.',
    mend: 'Send a file that has some.',
    detail: 'The file has no bytes.',
  },
  invalid_image: {
    cause: 'The image is broken, has no pixels, or has more of them than are taken.',
    mend: 'Export the image again, smaller if `detail` says so.',
    detail: 'The image has 20000 × 20000 pixels; at most 40000000 are taken.',
  },
  type_mismatch: {
    cause: 'The content is of another type than its Content-Type says.',
    mend: 'Send the Content-Type that `detail` names, or application/octet-stream.',
    detail: 'The content is image/png, and was declared as image/jpeg.',
  },
  file_too_large: {
    cause: 'The file has more bytes than files of its type may have.',
    mend: 'Send a smaller file.',
    detail: 'At most 10000000 bytes.',
  },
  file_mismatch: {
    cause: '`file_id` names one file, and `url` is the address of another or of none.',
    mend: 'Leave `url` out, or leave `file_id` out.',
    detail: 'This is an address of another file than `file_id`.',
  },
  unsupported_file_type: {
    cause: 'The content is of a type that is not taken.',
    mend: 'Convert the file to one of the types that `detail` lists.',
    detail: 'This is a BMP image. Taken are PNG, JPEG, WebP, GIF, AVIF, PDF, CSV and XLSX.',
  },
} as const satisfies Record<string, FieldGuide>
