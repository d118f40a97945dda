export const dataImports = {}
