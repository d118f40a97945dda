const extensions: Readonly<Record<string, string>> = { 'image/png': 'png', 'application/pdf': 'pdf', 'text/csv': 'csv' }

/** The last part of a path, without control and direction characters. */
export function cleanFileName(name: string, mime_type: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? ''
  const clean = last
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .slice(0, 255)
  return clean || `file.${extensions[mime_type] ?? 'bin'}`
}

export const contentDisposition = (kind: 'inline' | 'attachment', name: string): string =>
  `${kind}; filename="${name.replaceAll(/[^\w .-]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`
