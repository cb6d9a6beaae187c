//! Projects: folders with a name, in `projects.json` of the home.
//!
//! The file is small, written whole under a lock that all processes share, and may be edited by hand.

use std::path::PathBuf;

use hermes_core::project::{Listed, Project, ProjectError, Projects, plain_name};

use crate::disk::{self, Mode};
use crate::error::StoreError;
use crate::home::Home;

/// Most bytes that are read.
const MAX_BYTES: u64 = 1024 * 1024;
/// Most projects.
const MAX_PROJECTS: usize = 1000;

/// The projects of a home. Nothing is read, and no file is made, before they are used.
#[derive(Debug, Clone)]
pub struct HomeProjects {
    path: PathBuf,
}

impl HomeProjects {
    /// The projects of a home.
    pub fn new(home: &Home) -> Self {
        Self { path: home.projects() }
    }

    fn read(&self) -> Result<Listed, ProjectError> {
        let Some(text) = disk::read(&self.path, MAX_BYTES)? else {
            return Ok(Listed::default());
        };
        serde_json::from_str(&text)
            .map_err(|wrong| ProjectError::Store(format!("{}: {wrong}", self.path.display())))
    }

    /// Changes what the file says at this moment.
    fn change<T>(
        &self,
        work: impl FnOnce(&mut Listed) -> Result<T, ProjectError>,
    ) -> Result<T, ProjectError> {
        let _lock = disk::lock(&self.path)?;
        let mut all = self.read()?;
        let done = work(&mut all)?;
        all.projects.sort_by_key(|project| (project.name.to_lowercase(), project.name.clone()));
        let text = serde_json::to_string_pretty(&all).map_err(|why| ProjectError::Store(why.to_string()))?;
        disk::write(&self.path, &format!("{text}\n"), Mode::Keep)?;
        Ok(done)
    }
}

impl Projects for HomeProjects {
    fn list(&self) -> Result<Listed, ProjectError> {
        self.read()
    }

    fn create(&self, project: Project) -> Result<Project, ProjectError> {
        let project = Project { name: plain_name(&project.name)?, ..project };
        self.change(|all| {
            if let Some(there) = named(all, &project.name) {
                return Err(ProjectError::Taken { name: there.name.clone(), path: there.path.clone() });
            }
            if all.projects.len() >= MAX_PROJECTS {
                return Err(ProjectError::Store(format!("{MAX_PROJECTS} projects are the most")));
            }
            all.projects.push(project.clone());
            Ok(project)
        })
    }

    fn find(&self, name: &str) -> Result<Project, ProjectError> {
        find(&self.read()?, name).cloned()
    }

    fn switched(&self, name: &str) -> Result<(), ProjectError> {
        self.change(|all| {
            let name = find(all, name)?.name.clone();
            all.active = Some(name);
            Ok(())
        })
    }
}

fn named<'a>(all: &'a Listed, name: &str) -> Option<&'a Project> {
    let wanted = name.trim().to_lowercase();
    all.projects.iter().find(|project| project.name.to_lowercase() == wanted)
}

fn find<'a>(all: &'a Listed, name: &str) -> Result<&'a Project, ProjectError> {
    let by_folder = || all.projects.iter().find(|project| project.path.as_os_str() == name.trim());
    named(all, name).or_else(by_folder).ok_or_else(|| ProjectError::Unknown {
        name: name.to_owned(),
        known: all.projects.iter().map(|project| project.name.clone()).collect(),
    })
}

impl From<StoreError> for ProjectError {
    fn from(why: StoreError) -> Self {
        Self::Store(why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str, path: &str) -> Project {
        Project { name: name.to_owned(), path: path.into(), environment: None }
    }

    fn store() -> (tempfile::TempDir, HomeProjects) {
        let dir = tempfile::tempdir().unwrap();
        let projects = HomeProjects::new(&Home::at(dir.path()));
        (dir, projects)
    }

    #[test]
    fn a_project_is_found_by_its_name_in_any_case_and_by_its_folder() {
        let (_dir, projects) = store();
        projects.create(project(" Web site ", "/srv/web")).unwrap();
        projects.create(project("app", "/srv/app")).unwrap();

        assert_eq!(projects.find("WEB SITE").unwrap().path, PathBuf::from("/srv/web"));
        assert_eq!(projects.find("/srv/app").unwrap().name, "app");
        let names: Vec<String> = projects.list().unwrap().projects.into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["app", "Web site"]);
        let missing = projects.find("ap").unwrap_err().to_string();
        assert_eq!(missing, "there is no project `ap`; there are app, Web site");
    }

    #[test]
    fn a_name_counts_once() {
        let (_dir, projects) = store();
        projects.create(project("app", "/a")).unwrap();

        let again = projects.create(project("APP", "/b"));

        assert_eq!(again, Err(ProjectError::Taken { name: "app".to_owned(), path: "/a".into() }));
    }

    #[test]
    fn the_last_one_switched_to_is_remembered() {
        let (_dir, projects) = store();
        projects.create(project("app", "/a")).unwrap();

        projects.switched("APP").unwrap();

        assert_eq!(projects.list().unwrap().active.as_deref(), Some("app"));
        assert!(projects.switched("other").is_err());
    }
}
