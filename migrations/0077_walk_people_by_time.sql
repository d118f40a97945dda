-- Calculations of segments walk through the people of an organisation in the order in which they joined, which is the order
-- of a list and has its index. Calculations that are under way go on by ids, and read more rows than others.
drop index users_of_organization;
