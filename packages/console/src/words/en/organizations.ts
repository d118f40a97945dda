export const organizations = {}
