/** The supported types, and the endings of their names. The first ending is added if none fits. */
export const fileTypes = {
  'image/png': { family: 'image', endings: ['png', 'apng'] },
  'image/jpeg': { family: 'image', endings: ['jpg', 'jpeg', 'jpe', 'jfif'] },
  'image/webp': { family: 'image', endings: ['webp'] },
  'image/gif': { family: 'image', endings: ['gif'] },
  'image/avif': { family: 'image', endings: ['avif'] },
  'application/pdf': { family: 'document', endings: ['pdf'] },
  'text/csv': { family: 'table', endings: ['csv', 'tsv', 'txt'] },
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': { family: 'table', endings: ['xlsx'] },
  'application/zip': { family: 'table', endings: ['zip'] },
} as const satisfies Record<string, { family: 'image' | 'document' | 'table'; endings: readonly string[] }>

export type FileType = keyof typeof fileTypes
export type FileFamily = (typeof fileTypes)[FileType]['family']

export const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** An archive of CSV files. */
export const zipType = 'application/zip'

export const isFileType = (type: string): type is FileType => Object.hasOwn(fileTypes, type)

export const isImageType = (type: string): boolean => isFileType(type) && fileTypes[type].family === 'image'

export const isTableType = (type: string): boolean => isFileType(type) && fileTypes[type].family === 'table'

/** Other types that clients declare. For example, browsers declare different types for CSV files. */
const otherDeclarations: Partial<Record<FileType, readonly string[]>> = {
  'image/png': ['image/apng', 'image/x-png'],
  'image/jpeg': ['image/jpg', 'image/pjpeg'],
  'application/pdf': ['application/x-pdf'],
  'text/csv': [
    'text/plain',
    'text/x-csv',
    'text/comma-separated-values',
    'text/tab-separated-values',
    'application/csv',
    'application/x-csv',
    'application/vnd.ms-excel',
  ],
  [xlsxType]: ['application/vnd.ms-excel'],
  [zipType]: ['application/x-zip-compressed'],
}

/** General types, which say nothing about the content. */
const generalTypes = ['', 'application/octet-stream', 'binary/octet-stream', 'application/x-www-form-urlencoded']

/** The media type of a `Content-Type`, or null for a general one. */
export function parseDeclaredType(header: string | null | undefined): string | null {
  const type = (header?.split(';')[0] ?? '').trim().toLowerCase()
  return generalTypes.includes(type) ? null : type
}

export const matchesDeclaration = (declaredType: string, type: FileType): boolean =>
  declaredType === type || (otherDeclarations[type] ?? []).includes(declaredType)

/** True if a type of this family may be declared like this. Programs declare the type that the name of a file ends with. */
export const isDeclarationOfFamily = (declaredType: string, family: FileFamily): boolean =>
  Object.entries(fileTypes).some(
    ([type, { family: other }]) => other === family && matchesDeclaration(declaredType, type as FileType),
  )

/** True if a `Content-Type` can be that of a table, or says nothing. */
export function mayBeTable(header: string): boolean {
  const type = parseDeclaredType(header)
  return type === null || isDeclarationOfFamily(type, 'table')
}
