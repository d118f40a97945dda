import { z } from '@hono/zod-openapi'
import { type RoleCode, roleCodes } from '../../domain/accounts/access.ts'
import {
  filePurposes,
  fileStatuses,
  maxAltTextLength,
  maxFileBytes,
  maxFileTitleLength,
  maxTagLength,
  maxTags,
} from '../../domain/files/files.ts'
import { maxNameLength } from '../../domain/files/names.ts'
import { fileTypes } from '../../domain/files/types.ts'
import { Id, IdParams, Image, JsonObject, orNull, RequiredText, Timestamp, Translated } from '../../http/fields.ts'
import {
  BooleanFilter,
  ListPage,
  type ListFilters,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'

export const Title = z.string().trim().max(maxFileTitleLength)
const AltText = Translated(maxAltTextLength).openapi({
  description: 'What the image shows, by language.',
  example: { en: 'The main stage at night' },
})
export const FileName = RequiredText(maxNameLength).openapi({ example: 'poster.png' })
const Purpose = z.enum(filePurposes)
export const Tags = z
  .array(RequiredText(maxTagLength))
  .max(maxTags)
  .refine((tags) => new Set(tags).size === tags.length, { params: { code: 'repeated' }, message: 'Each once.' })
  .openapi({ uniqueItems: true, example: ['poster'] })

const FileUse = z.object({ type: z.string(), id: z.string(), name: z.string(), field: z.string() }).openapi('FileUse')

export const File = z
  .object({
    id: Id('fil'),
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for a file of the whole organisation.' }),
    name: FileName,
    title: Title,
    alt_text: AltText,
    purpose: Purpose,
    mime_type: z
      .string()
      .openapi({ description: 'The type of the content, for any declared type.', example: 'image/png' }),
    size: z.int().min(0).openapi({ description: 'Bytes.' }),
    checksum_sha256: z.string().openapi({ description: 'Of the bytes, in hexadecimal.' }),
    width: z.int().nullable().openapi({ description: 'Pixels; null for what is no image.' }),
    height: z.int().nullable().openapi({ description: 'Pixels; null for what is no image.' }),
    status: z.enum(fileStatuses).openapi({ description: '`quarantined` until a scanner has seen it.' }),
    url: z.string().nullable().openapi({
      description: 'Of the bytes. That of a file of an import works for 15 minutes, and is null for viewers.',
    }),
    image: orNull(Image).openapi({ description: 'Null for what is no image.' }),
    is_used: z.boolean(),
    used_by: z.array(FileUse).max(20).openapi({ description: 'What of it you may see, at most 20.' }),
    uploaded_by: Id('usr').nullable().openapi({ description: 'Null for the superuser of the platform.' }),
    tags: Tags,
    metadata: JsonObject,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('File')

/** The fields of an upload beside its bytes. */
const UploadFields = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt').optional().openapi({ description: 'Without it the file belongs to the whole organisation.' }),
  purpose: Purpose.optional().openapi({ description: 'Without it the type decides.' }),
  title: Title.default(''),
  alt_text: AltText.default({}),
  tags: Tags.default([]),
  metadata: JsonObject.default({}),
})

const UpdateFile = z.object({
  name: FileName.optional(),
  title: Title.optional(),
  alt_text: AltText.optional(),
  tags: Tags.optional(),
  metadata: JsonObject.optional(),
  purpose: Purpose.optional(),
  edition_id: Id('edt').nullable().optional().openapi({ description: 'Null: of the whole organisation.' }),
})

export type UploadInput = z.output<typeof UploadFields>
export type UpdateFileInput = z.output<typeof UpdateFile>

export const tag = 'Files' as const
export const writers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']

const listFilesQuery = listQuery({
  ordering: ['created', 'modified', 'name', 'size'],
  filters: {
    organization_id: IdFilter.optional(),
    edition_id: IdFilter.optional(),
    purpose: Purpose.optional(),
    mime_type: z.string().max(100).optional(),
    is_used: BooleanFilter.optional().openapi({ description: 'Whether something refers to it.' }),
    search: TextFilter.optional().openapi({ description: 'Part of the name or the title.' }),
  },
})

export type FileFilters = ListFilters<typeof listFilesQuery>
export type FileOrdering = z.output<typeof listFilesQuery>['ordering']

export const listFiles = operation({
  id: 'listFiles',
  tag,
  method: 'get',
  path: '/v1/files',
  summary: 'List files',
  description: 'Newest first.',
  roles: roleCodes,
  query: listFilesQuery,
  response: ListPage(File),
})

const IdInQuery = (prefix: string, description: string) =>
  IdFilter.optional().openapi({ pattern: `^${prefix}_`, description })

export const uploadFile = operation({
  id: 'uploadFile',
  tag,
  method: 'post',
  path: '/v1/files',
  summary: 'Upload a file',
  description: `As a form with the part \`file\`, or as the bytes themselves with \`Content-Disposition: attachment; filename="…"\` and
the fields in the query. Images have at most 10 MB and 40 million pixels, PDF documents 25 MB, tables 50 MB. The content
decides what a file is: PNG, JPEG, WebP, GIF and AVIF images, PDF documents, CSV and XLSX tables. SVG and HTML can run scripts and are
refused. The same bytes are kept once for an organisation, however many files have them.`,
  roles: writers,
  status: 201,
  query: z.object({
    organization_id: IdInQuery('org', 'For a body that is the file itself.'),
    edition_id: IdInQuery('edt', 'For a body that is the file itself.'),
    purpose: Purpose.optional().openapi({ description: 'For a body that is the file itself.' }),
    title: z
      .string()
      .max(maxFileTitleLength)
      .optional()
      .openapi({ description: 'For a body that is the file itself.' }),
  }),
  body: UploadFields,
  stream: {
    types: [...Object.keys(fileTypes), 'application/octet-stream'],
    form: { jsonFields: ['alt_text', 'metadata'], listFields: ['tags'] },
    maxBytes: maxFileBytes,
    maxReadMs: 300_000,
    description: `The file, in a form or by itself. Parts of a form come in any order. \`tags\` is a part for each tag, or one
part that is a JSON array; \`alt_text\` and \`metadata\` are JSON.`,
  },
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    title: 'Poster',
    alt_text: { en: 'The main stage at night' },
    file: 'The bytes of poster.png',
  },
  response: File,
  errors: ['edition_archived', 'empty_file', 'invalid_image', 'type_mismatch', 'unsupported_file_type', 'storage_full'],
})

export const getFile = operation({
  id: 'getFile',
  tag,
  method: 'get',
  path: '/v1/files/{id}',
  summary: 'Retrieve a file',
  description: 'What is known of it. Its bytes are at `url`.',
  roles: roleCodes,
  params: IdParams('fil'),
  response: File,
})

export const updateFile = operation({
  id: 'updateFile',
  tag,
  method: 'patch',
  path: '/v1/files/{id}',
  summary: 'Update a file',
  description: 'The bytes stay as they are: upload other ones as a new file.',
  roles: writers,
  params: IdParams('fil'),
  body: UpdateFile,
  example: { title: 'Poster', alt_text: { en: 'The main stage at night' } },
  response: File,
  errors: ['edition_archived', 'file_in_use'],
})

export const deleteFile = operation({
  id: 'deleteFile',
  tag,
  method: 'delete',
  path: '/v1/files/{id}',
  summary: 'Delete a file',
  description: 'One that something refers to stays: 409 `file_in_use` names what.',
  roles: writers,
  status: 204,
  params: IdParams('fil'),
  errors: ['edition_archived', 'file_in_use'],
})
