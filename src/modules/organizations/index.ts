export { findOrganization } from './queries.ts'
export { type OrganizationSummaryRow, organizationSummaryFields, presentOrganizationSummary } from './summary.ts'
