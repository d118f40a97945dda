import { fileFields } from './file-fields.ts'
import type { ErrorGuide } from './guide.ts'

const files = '/v1/files'
const aFile = '/v1/files/fil_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const anUpload = '/v1/files/uploads/upl_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'

/** A refusal of the content, with the field that it is in. */
const refused = (code: keyof typeof fileFields) => {
  const { detail } = fileFields[code]
  return { path: files, detail, errors: [{ code, detail, attr: 'file', pointer: '#/file' }] }
}

/** Refusals of files and their bytes. Refused bytes are not stored. */
export const fileErrors = {
  empty_file: {
    cause: 'The file has no bytes.',
    mend: 'Send the file again; look whether it can be read where it comes from.',
    example: refused('empty_file'),
  },
  invalid_image: {
    cause:
      'The file begins like an image and is none that can be shown: its header is cut off or wrong, or it is too large.',
    mend: 'Save the image anew in an image program, smaller where `detail` asks for it.',
    example: refused('invalid_image'),
  },
  type_mismatch: {
    cause: 'The content is of another type than the request says. The content decides.',
    mend: 'Send the type that the file has, or leave it out.',
    example: refused('type_mismatch'),
  },
  unsupported_file_type: {
    cause: 'Files of this type are not kept. What can run scripts in a browser is none of them.',
    mend: 'Convert the file to one of the types that the operation names.',
    example: refused('unsupported_file_type'),
  },
  file_too_large: {
    cause: 'The file has more bytes than a file of its kind may have.',
    mend: 'Make the file smaller. Tables for an import may come in parts.',
    example: {
      ...refused('file_too_large'),
      detail: 'The file has more than 10000000 bytes.',
      extra: { max_bytes: 10_000_000 },
    },
  },
  checksum_mismatch: {
    cause: 'The bytes that came are not those that `Content-Digest` speaks of.',
    mend: 'Send the part again.',
    example: { path: `${anUpload}/parts/1`, detail: 'The part has another checksum than Content-Digest says.' },
  },
  file_in_use: {
    cause: 'Something shows or reads the file. `related_objects` names what.',
    mend: 'Take the file out of what `related_objects` names, then delete it.',
    example: {
      path: aFile,
      detail: 'This file is in use.',
      extra: {
        related_objects: [
          { type: 'edition', id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', name: 'Nordlys 2026', field: 'meta_image_id' },
        ],
      },
    },
  },
  storage_full: {
    cause: 'The organisation keeps as many bytes as it may, uploads under way included.',
    mend: 'Delete files that are not needed, or ask the operator of the platform for more space.',
    example: { path: files, detail: 'The organisation has reached its storage limit.' },
  },
  upload_completed: {
    cause: 'The upload is a file already.',
    mend: 'Work with the file that `file_id` of the upload names.',
    example: { path: anUpload, detail: 'This upload is completed.' },
  },
  upload_incomplete: {
    cause: 'Parts of the upload are missing, or the store does not have them as they were sent.',
    mend: 'Read the upload: send the parts that it does not list. Then complete it again.',
    example: { path: `${anUpload}/complete`, detail: 'Parts are missing: 2, 3.', extra: { missing_parts: [2, 3] } },
  },
} satisfies Record<string, ErrorGuide>
